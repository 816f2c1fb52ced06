"""The external object store as a target."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from infra.settings.models.data.databases import CONSUMERS_NAMESPACE
from infra.settings.models.data.object_store import (
    AzureStore,
    Buckets,
    CompatibleStore,
    GcsStore,
    S3Store,
    StoreKeys,
)
from ops.doctor import object_store as checks
from ops.doctor.examine import Examination
from ops.doctor.network import REACH
from ops.doctor.object_store.probe import ObjectStoreProbe
from ops.doctor.plan.endpoint import EndpointProbe
from ops.doctor.targets import Address, Bucket, EndpointTarget, ObjectStoreTarget, Tls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings import Settings
    from ops.doctor.plan.references import References
    from ops.doctor.targets import Login

PATH = "data.objectStore"
VERSIONED = frozenset({"backups"})
"""Buckets in which what was overwritten or deleted must be recoverable."""

_PORTS = {"http": 80, "https": 443}


def object_store(settings: Settings, known: References, timeout: float) -> Iterator[Examination]:
    """Yield what to check of the object store, where it is external."""
    match settings.data.object_store:
        case S3Store() as store:
            endpoint = store.endpoint or f"https://s3.{store.region}.amazonaws.com"
            keys = store.identity if isinstance(store.identity, StoreKeys) else None
            buckets = _buckets(store.buckets, made=store.manage_buckets)
            yield _s3(endpoint, _public(endpoint), store.region, keys, buckets, known, timeout)
        case CompatibleStore() as store:
            ca = known.authority(store.ca, f"{PATH}.ca")
            tls = _public(store.endpoint, ca)
            buckets = _buckets(store.buckets, made=store.manage_buckets)
            if store.ca and ca is None:
                yield _only_reach(store.endpoint, timeout, Tls(mode="require"))
            else:
                yield _s3(store.endpoint, tls, store.region, store.identity, buckets, known, timeout)
        case GcsStore() as store:
            endpoint = "https://storage.googleapis.com"
            yield _s3(endpoint, _public(endpoint), "auto", store.hmac, _buckets(store.buckets), known, timeout)
        case AzureStore() as store:
            yield _only_reach(f"https://{store.account}.blob.core.windows.net", timeout)
            own = store.pipelines
            bucket = Bucket(name=store.buckets.pipelines.name, purpose="pipelines")
            yield _s3(own.endpoint, _public(own.endpoint), own.region, own.identity, (bucket,), known, timeout)
        case _:
            return


def _s3(
    endpoint: str,
    tls: Tls,
    region: str,
    keys: StoreKeys | None,
    buckets: tuple[Bucket, ...],
    known: References,
    timeout: float,
) -> Examination:
    login: Login | None = None
    if keys:
        entries = (keys.access_key, keys.secret_key)
        login = known.pair(keys.secret, CONSUMERS_NAMESPACE, entries, f"{PATH}.identity")
        if login is None:
            return _only_reach(endpoint, timeout, tls)
    target = ObjectStoreTarget(
        name=PATH, endpoint=_address(endpoint), tls=tls, buckets=buckets, region=region, login=login
    )
    return Examination(probe=ObjectStoreProbe(target, timeout), checks=checks.STORE)


def _only_reach(endpoint: str, timeout: float, tls: Tls | None = None) -> Examination:
    target = EndpointTarget(name=PATH, addresses=(_address(endpoint),), tls=tls or _public(endpoint))
    return Examination(probe=EndpointProbe(target, timeout), checks=REACH)


def _buckets(buckets: Buckets, *, made: bool = False) -> tuple[Bucket, ...]:
    return tuple(
        Bucket(
            name=getattr(buckets, purpose).name,
            purpose=purpose,
            lifecycle_days=getattr(buckets, purpose).expire_days,
            versioned=purpose in VERSIONED,
            made=made,
        )
        for purpose in Buckets.model_fields
    )


def _address(endpoint: str) -> Address:
    parts = urlsplit(endpoint)
    return Address(host=parts.hostname or "", port=parts.port or _PORTS[parts.scheme])


def _public(endpoint: str, ca: str | None = None) -> Tls:
    """Return what an address's scheme promises: HTTPS is always verified."""
    return Tls(mode="verify-full", ca=ca) if endpoint.startswith("https:") else Tls()
