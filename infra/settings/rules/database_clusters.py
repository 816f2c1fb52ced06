"""Rules about databases that operators run here: their operators, volumes and backups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.data.databases import OperatedDatabase
from infra.settings.models.data.object_store import AzureStore, CompatibleStore, S3Store, StoreKeys
from infra.settings.rules.rule import Violation, rule
from infra.settings.rules.storage import modes_of, unknown_class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.models.data.databases import DatabaseBackup, Operator
    from infra.settings.models.data.object_store import ObjectStore
    from infra.settings.models.settings import Settings

DATABASES = ("data", "databases")
AWS_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


def _operated(settings: Settings) -> Iterator[tuple[str, OperatedDatabase]]:
    for name, database in settings.data.databases.items():
        if isinstance(database, OperatedDatabase):
            yield name, database


@rule("cluster", "data")
def database_instances_have_nodes_of_their_own(settings: Settings) -> Iterator[Violation]:
    """Refuse more instances than system nodes: two on one node are lost together."""
    nodes = sum(pool.nodes.max for pool in settings.cluster.node_pools if pool.purpose == "system")
    for name, database in _operated(settings):
        if 0 < nodes < database.instances:
            what = f"{database.instances} instances would share at most {nodes} system nodes"
            yield Violation((*DATABASES, name, "instances"), what, f"Write {nodes} or less, or raise the pool's max")


@rule("cluster", "data")
def databases_lie_on_disks(settings: Settings) -> Iterator[Violation]:
    """Refuse volumes for databases that are not disks of one node: shared files keep locks and flushes badly."""
    for name, database in _operated(settings):
        chosen, path = database.storage.storage_class, (*DATABASES, name, "storage", "storageClass")
        if chosen is None:
            continue
        found = settings.cluster.storage.find(chosen)
        if found is None:
            yield unknown_class(path, chosen, settings)
        elif "ReadWriteMany" in modes_of(found) or "ReadWriteOnce" not in modes_of(found):
            what = f"{chosen} has driver {found.driver}, whose volumes are no disks"
            yield Violation(path, what, f"Write {settings.cluster.storage.defaults.block}, or remove it")


@rule("data")
def operators_come_from_one_side(settings: Settings) -> Iterator[Violation]:
    """Refuse an operator that is both installed and present: two of them would fight over every cluster."""
    first: dict[Operator, tuple[str, str]] = {}
    for name, database in _operated(settings):
        other, installed = first.setdefault(database.operator, (name, database.installed))
        if installed != database.installed:
            what = f"{other} has installed: {installed}, and one {database.operator} serves both"
            yield Violation((*DATABASES, name, "installed"), what, f"Write {installed}, or change {other}")


@rule("data")
def backups_go_where_operators_can_write(settings: Settings) -> Iterator[Violation]:
    """Refuse backups to an object store that the operator cannot sign in to."""
    for name, database in _operated(settings):
        if database.backup and (why := _unreachable(database.operator, settings.data.object_store)):
            what, remedy = why
            yield Violation((*DATABASES, name, "backup"), what, remedy)


def _unreachable(operator: Operator, store: ObjectStore) -> tuple[str, str] | None:
    if isinstance(store, AzureStore):
        return "operators write backups to S3 endpoints, and the object store is Azure Blob", "Write backup: null"
    if operator != "percona-xtradb":
        return None
    identity = store.identity if isinstance(store, S3Store | CompatibleStore) else None
    if not isinstance(identity, StoreKeys) or (identity.access_key, identity.secret_key) != AWS_KEYS:
        what = f"percona-xtradb wants access keys, as {' and '.join(AWS_KEYS)} of the object store's Secret"
        return what, "Set objectStore.identity.accessKey and secretKey to these, or use moco"
    return None


@rule("data")
def backups_are_kept_as_long_as_they_say(settings: Settings) -> Iterator[Violation]:
    """Refuse a bucket that deletes backups too early, or, for MOCO which deletes none itself, never."""
    expiry = settings.data.object_store.buckets.backups.expire_days
    for name, database in _operated(settings):
        if (backup := database.backup) is None:
            continue
        path = (*DATABASES, name, "backup", "retentionDays")
        if expiry is None and database.operator == "moco":
            what = "MOCO deletes no backup, and the bucket for backups keeps everything"
            yield Violation(path, what, f"Set objectStore.buckets.backups.expireDays to {backup.retention_days}")
        yield from _too_early(path, backup, expiry)


def _too_early(path: tuple[str, ...], backup: DatabaseBackup, expiry: int | None) -> Iterator[Violation]:
    if expiry is not None and expiry < backup.retention_days:
        what = f"the bucket for backups deletes after {expiry} days, so {backup.retention_days} are not kept"
        yield Violation(path, what, f"Write {expiry} or less, or raise objectStore.buckets.backups.expireDays")
