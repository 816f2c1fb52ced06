"""MySQL by Percona XtraDB Cluster: synchronous replication by Galera behind HAProxy."""

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

API = "pxc.percona.com/v1"
PORT, METRICS = 3306, 8404
STORE = "backups"
MYSQL = 1001
"""User and group that MySQL and HAProxy run as in Percona's images."""

RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "runAsUser": MYSQL,
    "seccompProfile": {"type": "RuntimeDefault"},
}

OPERATOR = Operator(
    namespace="pxc-system",
    charts={
        chart_sources.PERCONA_XTRADB: {
            "replicaCount": 2,
            "watchAllNamespaces": True,
            "disableTelemetry": True,
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        },
    },
    webhooks=(9443,),
)
"""Source: https://github.com/percona/percona-helm-charts, tag pxc-operator-1.19.1, `charts/pxc-operator`."""


def recipe(args: ClusterArgs) -> Recipe:
    """Return the cluster and its backups.

    Galera certifies rows by their primary key. A consumer with a table that has none is let through, with a warning
    in the server's log, by `pxc_strict_mode=PERMISSIVE`; everywhere else the strict mode stays.

    Source: https://github.com/percona/percona-xtradb-cluster-operator, tag v1.19.1, `deploy/cr.yaml`.
    """
    return Recipe(
        objects=[Custom(api=API, kind="PerconaXtraDBCluster", spec=_cluster(args))],
        host=f"{args.name}-haproxy.{args.namespace}.svc",
        admin=Credentials(secret=f"{args.name}-secrets", username="root", password_key="root"),  # noqa: S106 - a key
        tls=Tls(mode="disable"),
        instances={"app.kubernetes.io/instance": args.name, "app.kubernetes.io/name": "percona-xtradb-cluster"},
        clients=PORT,
        watched=(METRICS,),
        metrics=[{"portNumber": METRICS}],
    )


def _labels(args: ClusterArgs, component: str) -> dict[str, str]:
    return {"app.kubernetes.io/instance": args.name, "app.kubernetes.io/component": component}


def _cluster(args: ClusterArgs) -> Manifest:
    settings = args.settings
    return without_nothing(
        crVersion=versions.PERCONA_XTRADB_OPERATOR,
        secretsName=f"{args.name}-secrets",
        updateStrategy="SmartUpdate",
        upgradeOptions={"apply": "disabled"},
        initContainer={"containerSecurityContext": RESTRICTED},
        pxc={
            "size": settings.instances,
            "image": versions.PERCONA_XTRADB.reference,
            "configuration": _configuration(args),
            "resources": settings.resources.as_manifest(),
            "volumeSpec": {
                "persistentVolumeClaim": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": args.storage_class,
                    "resources": {"requests": {"storage": str(settings.storage.size)}},
                }
            },
            "gracePeriod": 600,
            **_placed(args, "pxc"),
        },
        haproxy={
            "enabled": True,
            "size": settings.instances,
            "image": versions.PERCONA_HAPROXY.reference,
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
            "gracePeriod": 30,
            **_placed(args, "haproxy"),
        },
        backup=_backup(args, settings.backup, args.store) if settings.backup and args.store else None,
    )


def _placed(args: ClusterArgs, component: str) -> Manifest:
    return {
        "priorityClassName": names.PLATFORM_PRIORITY,
        "podDisruptionBudget": {"maxUnavailable": 1},
        "containerSecurityContext": RESTRICTED,
        "podSecurityContext": {"fsGroup": MYSQL, "supplementalGroups": [MYSQL]},
        "topologySpreadConstraints": [spread(_labels(args, component))],
        "affinity": {
            "advanced": {
                "nodeAffinity": prefer_system_nodes(),
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "labelSelector": {"matchLabels": _labels(args, component)},
                            "topologyKey": HOST,
                        }
                    ]
                },
            }
        },
    }


def _configuration(args: ClusterArgs) -> str:
    lines = [
        "[mysqld]",
        f"max_connections={args.connections}",
        f"pxc_strict_mode={'PERMISSIVE' if args.keyless else 'ENFORCING'}",
        *(["mysql_native_password=ON"] if args.native else []),
    ]
    return "".join(f"{line}\n" for line in lines)


def _backup(args: ClusterArgs, backup: DatabaseBackup, store: BackupStore) -> Manifest:
    return {
        "image": versions.PERCONA_XTRABACKUP.reference,
        "storages": {
            STORE: {
                "type": "s3",
                "containerSecurityContext": RESTRICTED,
                "s3": without_nothing(
                    bucket=f"{store.bucket}/{args.prefix}",
                    credentialsSecret=store.secret,
                    region=store.region,
                    endpointUrl=store.endpoint,
                ),
            }
        },
        "schedule": [
            {
                "name": "scheduled",
                "schedule": backup.schedule,
                "storageName": STORE,
                "retention": {"type": "count", "count": backup.retention_days, "deleteFromStorage": True},
            }
        ],
    }
