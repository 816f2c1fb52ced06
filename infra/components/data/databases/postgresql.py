"""PostgreSQL by CloudNativePG: one instance takes writes, the others follow, and one of them has every commit."""

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

API = "postgresql.cnpg.io/v1"
PLUGIN = "barman-cloud.cloudnative-pg.io"
INSTANCES = "cnpg.io/cluster"
"""Label of instances, whose value is their cluster's name."""

PORT, STATUS, METRICS = 5432, 8000, 9187
REPLICAS = 2
"""Of the operator; they elect a leader."""

OPERATOR = Operator(
    namespace="cnpg-system",
    charts={
        chart_sources.CLOUDNATIVE_PG: {
            "replicaCount": REPLICAS,
            "priorityClassName": names.PLATFORM_PRIORITY,
            "topologySpreadConstraints": [spread({"app.kubernetes.io/name": "cloudnative-pg"})],
            "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        },
        # The operator speaks to a single replica of it, which instances do without for as long as it restarts.
        chart_sources.BARMAN_CLOUD: {
            "priorityClassName": names.PLATFORM_PRIORITY,
            "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        },
    },
    webhooks=(9443,),
)
"""Needs cert-manager, which signs the certificates between operator and backup plugin.

Source: https://github.com/cloudnative-pg/charts, `charts/*/values.yaml` at cloudnative-pg 0.29.0 and
plugin-barman-cloud 0.7.0.
"""


def recipe(args: ClusterArgs) -> Recipe:
    """Return the cluster and its backups.

    A commit is acknowledged once a standby has it, and a standby that may lack one is not promoted.

    Source: https://github.com/cloudnative-pg/cloudnative-pg, tag v1.30.0, `docs/src/{replication,scheduling}.md`;
    https://github.com/cloudnative-pg/plugin-barman-cloud, `web/docs/usage.md`.
    """
    objects = [Custom(api=API, kind="Cluster", spec=_cluster(args))]
    if (backup := args.settings.backup) and (store := args.store):
        objects = [
            Custom(api="barmancloud.cnpg.io/v1", kind="ObjectStore", spec=_store(args, backup, store)),
            *objects,
            Custom(api=API, kind="ScheduledBackup", spec=_schedule(args, backup)),
        ]
    return Recipe(
        objects=objects,
        host=f"{args.name}-rw.{args.namespace}.svc",
        admin=Credentials(secret=f"{args.name}-superuser", username_key="username", password_key="password"),  # noqa: S106 - a key
        tls=Tls(mode="require"),
        instances={INSTANCES: args.name},
        clients=PORT,
        watched=(STATUS, METRICS),
        metrics=[{"port": "metrics"}],
    )


def _cluster(args: ClusterArgs) -> Manifest:
    settings, store = args.settings, args.store
    archived = store is not None and settings.backup is not None
    return without_nothing(
        imageName=versions.POSTGRESQL.reference,
        instances=settings.instances,
        primaryUpdateStrategy="unsupervised",
        # The bootstrap Job needs it; no component can read its Secret.
        enableSuperuserAccess=True,
        postgresql={
            "parameters": {"max_connections": str(args.connections), "password_encryption": "scram-sha-256"},
            "synchronous": {"method": "any", "number": 1, "failoverQuorum": True},
        },
        storage={"size": str(settings.storage.size), "storageClass": args.storage_class},
        resources=settings.resources.as_manifest(),
        priorityClassName=names.PLATFORM_PRIORITY,
        affinity={
            "enablePodAntiAffinity": True,
            "podAntiAffinityType": "required",
            "topologyKey": HOST,
            "nodeAffinity": prefer_system_nodes(),
        },
        topologySpreadConstraints=[spread({INSTANCES: args.name})],
        plugins=[{"name": PLUGIN, "isWALArchiver": True, "parameters": {"barmanObjectName": args.name}}]
        if archived
        else None,
        serviceAccountTemplate={"metadata": {"annotations": dict(store.role)}} if store and store.role else None,
    )


def _store(args: ClusterArgs, backup: DatabaseBackup, store: BackupStore) -> Manifest:
    return {
        "retentionPolicy": f"{backup.retention_days}d",
        "configuration": without_nothing(
            destinationPath=f"s3://{store.bucket}/{args.prefix}",
            endpointURL=store.endpoint,
            s3Credentials={
                "accessKeyId": {"name": store.secret, "key": store.access_key},
                "secretAccessKey": {"name": store.secret, "key": store.secret_key},
            }
            if store.secret
            else {"inheritFromIAMRole": True},
            wal={"compression": "gzip"},
            data={"compression": "gzip"},
        ),
    }


def _schedule(args: ClusterArgs, backup: DatabaseBackup) -> Manifest:
    return {
        # Seconds come first here.
        "schedule": f"0 {backup.schedule}",
        "backupOwnerReference": "self",
        "cluster": {"name": args.name},
        "method": "plugin",
        "pluginConfiguration": {"name": PLUGIN},
    }
