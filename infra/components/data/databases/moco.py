"""MySQL by MOCO: semi-synchronous replication by GTID, which asks for no primary keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra import chart_sources, versions
from infra.components.data.databases.recipe import (
    BackupStore,
    ClusterArgs,
    Custom,
    Operator,
    Recipe,
    prefer_system_nodes,
    spread,
    without_nothing,
)
from infra.core import names
from infra.core.database import Credentials
from infra.node_labels import HOST
from infra.settings.models.data.common import Tls

if TYPE_CHECKING:
    from infra.components.data.databases.recipe import Manifest
    from infra.settings.models.data.databases import DatabaseBackup

API = "moco.cybozu.com/v1beta2"
PORT, ADMIN, HEALTH, AGENT, AGENT_METRICS, METRICS = 3306, 33062, 9081, 9080, 8080, 9104
MYSQL = 10_000
"""User and group that MySQL runs as in MOCO's image."""

SYSTEM_CONTAINERS = ("agent", "copy-moco-init", "moco-init", "slow-log", "mysqld-exporter")
"""Containers that MOCO adds to an instance's pod."""

COLLECTORS = ("engine_innodb_status", "info_schema.innodb_metrics")
"""What the exporter beside each instance collects; with none, MOCO adds no exporter."""

RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsGroup": MYSQL,
    "runAsNonRoot": True,
    "runAsUser": MYSQL,
    "seccompProfile": {"type": "RuntimeDefault"},
}

OPERATOR = Operator(
    namespace="moco-system",
    charts={
        chart_sources.MOCO: {
            "replicaCount": 2,
            "priorityClassName": names.PLATFORM_PRIORITY,
            "topologySpreadConstraints": [spread({"app.kubernetes.io/component": "moco-controller"})],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        },
    },
    webhooks=(9443,),
)
"""Needs cert-manager, which signs the certificates between operator and instances.

Source: https://github.com/cybozu-go/moco, tag chart-v0.25.0, `charts/moco/values.yaml`.
"""


def recipe(args: ClusterArgs) -> Recipe:
    """Return the cluster, its server's configuration and its backups.

    Source: https://github.com/cybozu-go/moco, tag v0.35.0, `docs/usage.md`, `docs/crd_*.md`, `pkg/constants` and
    `pkg/password`.
    """
    objects = [Custom(api=API, kind="MySQLCluster", spec=_cluster(args))]
    backup, store = args.settings.backup, args.store
    if backup and store:
        objects.insert(0, Custom(api=API, kind="BackupPolicy", spec=_policy(args, backup, store)))
    return Recipe(
        objects=objects,
        config=_configuration(args),
        account=bool(backup and store),
        host=f"moco-{args.name}-primary.{args.namespace}.svc",
        # May create users and databases, but is no superuser.
        admin=Credentials(secret=f"moco-{args.name}", username="moco-writable", password_key="WRITABLE_PASSWORD"),  # noqa: S106 - a key
        tls=Tls(mode="disable"),
        instances=_instances(args),
        clients=PORT,
        watched=(ADMIN, HEALTH, AGENT, AGENT_METRICS, METRICS),
        metrics=[{"port": "agent-metrics"}, {"port": "mysqld-metrics"}],
    )


def _instances(args: ClusterArgs) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": "mysql",
        "app.kubernetes.io/created-by": "moco",
        "app.kubernetes.io/instance": args.name,
    }


def _configuration(args: ClusterArgs) -> dict[str, str]:
    """Return the server's variables that differ from MOCO's, by name."""
    plugin = {"mysql_native_password": "ON"} if args.native else {}
    return {"max_connections": str(args.connections), **plugin}


def _cluster(args: ClusterArgs) -> Manifest:
    settings = args.settings
    hosts = {"labelSelector": {"matchLabels": _instances(args)}, "topologyKey": HOST}
    return without_nothing(
        replicas=settings.instances,
        mysqlConfigMapName=args.name,
        backupPolicyName=args.name if settings.backup and args.store else None,
        collectors=list(COLLECTORS) if settings.pod_monitor else None,
        podTemplate={
            "overwriteContainers": [{"name": name, "securityContext": RESTRICTED} for name in SYSTEM_CONTAINERS],
            "spec": {
                "priorityClassName": names.PLATFORM_PRIORITY,
                "securityContext": {"fsGroup": MYSQL, "fsGroupChangePolicy": "OnRootMismatch"},
                "affinity": {
                    "nodeAffinity": prefer_system_nodes(),
                    "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [hosts]},
                },
                "topologySpreadConstraints": [spread(_instances(args))],
                "containers": [
                    {
                        "name": "mysqld",
                        "image": versions.MOCO_MYSQL.reference,
                        "resources": settings.resources.as_manifest(),
                        "securityContext": RESTRICTED,
                    }
                ],
            },
        },
        volumeClaimTemplates=[
            {
                "metadata": {"name": "mysql-data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": args.storage_class,
                    "resources": {"requests": {"storage": str(settings.storage.size)}},
                },
            }
        ],
    )


def _policy(args: ClusterArgs, backup: DatabaseBackup, store: BackupStore) -> Manifest:
    """Return when and where to. MOCO deletes no backup: the bucket's lifecycle does."""
    keys = {"AWS_ACCESS_KEY_ID": store.access_key, "AWS_SECRET_ACCESS_KEY": store.secret_key}
    size = {"resources": {"requests": {"storage": str(args.settings.storage.size)}}}
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": args.storage_class, **size}
    return {
        "schedule": backup.schedule,
        "timeZone": "Etc/UTC",
        "concurrencyPolicy": "Forbid",
        "jobConfig": without_nothing(
            serviceAccountName=f"{args.name}-backup",
            bucketConfig=without_nothing(
                backendType="s3",
                bucketName=store.bucket,
                region=store.region,
                endpointURL=store.endpoint,
                usePathStyle=True if store.endpoint else None,
            ),
            workVolume={"ephemeral": {"volumeClaimTemplate": {"spec": claim}}},
            env=[
                {"name": name, "valueFrom": {"secretKeyRef": {"name": store.secret, "key": key}}}
                for name, key in keys.items()
            ]
            if store.secret
            else None,
        ),
    }
