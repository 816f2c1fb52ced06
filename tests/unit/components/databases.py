"""Databases, consumers and servers as the settings declare them, for the tests of what is made of them."""

from __future__ import annotations

from typing import Any

from infra.components.data.databases.component import Databases, DatabasesArgs
from infra.components.data.databases.recipe import BackupStore
from infra.core.database import Server
from infra.settings.models.data.databases import Consumers, Database
from tests.unit.core.parsing import parse
from tests.unit.core.recording import Recording, record

SCHEMAS = {
    "pipelines": "mlpipeline",
    "cache": "cachedb",
    "metadata": "metadb",
    "katib": "katib",
    "modelRegistry": "model_registry",
    "modelCatalog": "model_catalog",
}
EXTERNAL = {"kind": "external", "engine": "mysql", "hosts": ["db.example.com"], "tls": {"mode": "disable"}}
POSTGRESQL = {**EXTERNAL, "engine": "postgresql", "hosts": ["pg.example.com"], "tls": {"mode": "require"}}
RESOURCES = {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"memory": "4Gi"}}
BACKUP = {"schedule": "30 2 * * *", "retentionDays": 14}
STORE = BackupStore(bucket="backups", endpoint="https://s3.example.com", region="eu", secret="backup-keys")
ROLE = BackupStore(bucket="backups", region="eu", role={"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/b"})


def database(**values: Any) -> Database:
    return parse(Database, **values)  # pyright: ignore[reportArgumentType] - a union


def operated(operator: str, **more: Any) -> dict[str, Any]:
    return {
        "kind": "operator",
        "operator": operator,
        "storage": {"size": "50Gi"},
        "resources": RESOURCES,
        "backup": BACKUP,
        **more,
    }


def consumers(mysql: str = "mysql", postgresql: str = "postgresql", **more: dict[str, Any]) -> Consumers:
    """Return consumers of two databases; `more` adds to a consumer by its key."""
    uses = {"katib": postgresql, "modelRegistry": postgresql, "modelCatalog": postgresql}
    return parse(
        Consumers,
        **{
            key: {"database": uses.get(key, mysql), "schemaName": schema, **more.get(key, {})}
            for key, schema in SCHEMAS.items()
        },
    )


def declared(
    databases: dict[str, dict[str, Any]], users: Consumers | None = None, store: BackupStore | None = STORE
) -> tuple[Recording, dict[str, Server]]:
    """Return what the databases declare, and the servers that others are told of."""
    servers: dict[str, Server] = {}

    def declare() -> None:
        made = Databases(
            "databases",
            DatabasesArgs(
                databases={name: database(**values) for name, values in databases.items()},
                consumers=users or consumers(),
                namespace="flotilla-data",
                block_class="gp3",
                store=store,
            ),
        )
        servers.update(made.servers)

    return record(declare), servers
