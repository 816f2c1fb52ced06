"""Where databases keep their backups, as the operators are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.components.data.databases.recipe import BackupStore
from infra.settings.models.data.object_store import (
    AzureStore,
    CompatibleStore,
    GcsStore,
    MinioStore,
    S3Store,
    SeaweedStore,
    StoreKeys,
)

if TYPE_CHECKING:
    from infra.settings.models.data.object_store import ObjectStore

ROLE = "eks.amazonaws.com/role-arn"
GOOGLE = "https://storage.googleapis.com"
"""Google's endpoint for clients that speak S3."""


def backup_store(settings: ObjectStore, *, inside: str | None) -> BackupStore | None:
    """Return the bucket for backups; None where operators cannot write to the store.

    Keys are those of the platform, in a Secret of the same name in the databases' namespace.

    Args:
        settings: the object store.
        inside: URL of a store that runs on this platform; None where none does.
    """
    bucket = settings.buckets.backups.name
    match settings:
        case S3Store(identity=identity):
            if isinstance(identity, StoreKeys):
                return _by_keys(bucket, identity, endpoint=settings.endpoint, region=settings.region)
            role = {ROLE: identity.role}
            return BackupStore(bucket=bucket, endpoint=settings.endpoint, region=settings.region, role=role)
        case GcsStore(hmac=keys):
            return _by_keys(bucket, keys, endpoint=GOOGLE, region="auto")
        case CompatibleStore(identity=keys):
            return _by_keys(bucket, keys, endpoint=settings.endpoint, region=settings.region)
        case SeaweedStore():
            return _by_keys(bucket, StoreKeys(kind="keys"), endpoint=inside, region=None)
        case MinioStore(identity=keys):
            return _by_keys(bucket, keys, endpoint=inside, region=None)
        case AzureStore():
            return None


def _by_keys(bucket: str, keys: StoreKeys, *, endpoint: str | None, region: str | None) -> BackupStore:
    return BackupStore(
        bucket=bucket,
        endpoint=endpoint,
        region=region,
        secret=keys.secret,
        access_key=keys.access_key,
        secret_key=keys.secret_key,
    )
