"""Rules about the object store and its buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from infra.settings.models.data.object_store import (
    AzureStore,
    CompatibleStore,
    MinioStore,
    S3Store,
    SeaweedStore,
    StoreKeys,
)
from infra.settings.rules.rule import Violation, repeated, rule
from infra.settings.rules.storage import modes_of, unknown_class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.models.settings import Settings

STORE = ("data", "objectStore")
BUCKETS = ("pipelines", "checkpoints", "logs", "backups")
LEAST_ZONES = 2


@rule("data")
def buckets_are_apart(settings: Settings) -> Iterator[Violation]:
    """Refuse one bucket for two purposes: what expires in one would be deleted from the other."""
    buckets = settings.data.object_store.buckets
    for index, name in repeated(getattr(buckets, key).name for key in BUCKETS):
        what = f"another of the buckets is called {name}"
        yield Violation((*STORE, "buckets", BUCKETS[index], "name"), what, "Write another name")


@rule("data")
def endpoints_are_encrypted(settings: Settings) -> Iterator[Violation]:
    """Refuse an endpoint without TLS outside of this platform: keys and data would cross the network in the clear."""
    match settings.data.object_store:
        case S3Store(endpoint=str(endpoint)) | CompatibleStore(endpoint=endpoint):
            path = (*STORE, "endpoint")
        case AzureStore(pipelines=pipelines):
            endpoint, path = pipelines.endpoint, (*STORE, "pipelines", "endpoint")
        case _:
            return
    host = urlsplit(endpoint).hostname or ""
    inside = host.endswith((".svc", ".svc.cluster.local", ".localhost")) or host in ("localhost", "127.0.0.1")
    if endpoint.startswith("http://") and not inside:
        yield Violation(path, f"{endpoint} is not encrypted", f"Write https://{endpoint.removeprefix('http://')}")


@rule("data")
def authorities_are_for_encrypted_endpoints(settings: Settings) -> Iterator[Violation]:
    """Refuse an authority for an endpoint that shows no certificate."""
    store = settings.data.object_store
    if isinstance(store, CompatibleStore) and store.ca and store.endpoint.startswith("http://"):
        yield Violation((*STORE, "ca"), "is given although the endpoint has no TLS", "Remove it, or write https://")


@rule("data")
def teams_sign_in_as_themselves(settings: Settings) -> Iterator[Violation]:
    """Refuse roles and accounts that the platform and its teams share: a team could then read every other's objects."""
    store = settings.data.object_store
    if isinstance(store, AzureStore):
        identity = store.identity
        ids = [identity.client_id, *identity.team_client_ids.values()]
        teams = list(identity.team_client_ids)
        for index, _ in repeated(ids):
            what = "is the client id of somebody else too"
            yield Violation((*STORE, "identity", "teamClientIds", teams[index - 1]), what, "Write the team's own")


@rule("data", "teams")
def teams_have_an_identity(settings: Settings) -> Iterator[Violation]:
    """Refuse a team without an Azure identity: its pods could not sign in."""
    store = settings.data.object_store
    if not isinstance(store, AzureStore):
        return
    known = store.identity.team_client_ids
    for team in settings.teams:
        if team.name not in known:
            what = f"the team {team.name} has no client id"
            yield Violation((*STORE, "identity", "teamClientIds"), what, f"Add {team.name}")
    names = {team.name for team in settings.teams}
    for name in known:
        if name not in names:
            yield Violation((*STORE, "identity", "teamClientIds", name), f"{name} is not a team", "Remove it")


@rule("cluster", "data")
def stores_have_their_disks(settings: Settings) -> Iterator[Violation]:
    """Refuse disks for an operated store of a class that makes none that one server holds alone."""
    store = settings.data.object_store
    if not isinstance(store, SeaweedStore | MinioStore):
        return
    name = store.volume.storage_class
    if name is not None:
        found, path = settings.cluster.storage.find(name), (*STORE, "volume", "storageClass")
        if found is None:
            yield unknown_class(path, name, settings)
        elif not found.dynamic or "ReadWriteOnce" not in modes_of(found):
            what = f"{name} has driver {found.driver}, which makes no disks for claims"
            yield Violation(path, what, "Name a class of disks")


@rule("cluster", "data")
def stores_span_zones(settings: Settings) -> Iterator[Violation]:
    """Refuse a store on a cluster of one zone: with it, every copy would be lost."""
    store = settings.data.object_store
    if isinstance(store, SeaweedStore) and len(settings.cluster.zones) < LEAST_ZONES:
        what = "a cluster of one zone has nowhere to put a second copy"
        yield Violation((*STORE, "kind"), what, "Use an object store outside, or a cluster of several zones")


@rule("data")
def access_keys_have_two_names(settings: Settings) -> Iterator[Violation]:
    """Refuse one key of a Secret for both halves of an access key: the id would be taken for the key."""
    store = settings.data.object_store
    for path, keys in (("identity", getattr(store, "identity", None)), ("hmac", getattr(store, "hmac", None))):
        if isinstance(keys, StoreKeys) and keys.access_key == keys.secret_key:
            what = f"{keys.access_key} holds the access key's id already"
            yield Violation((*STORE, path, "secretKey"), what, "Write another key of the Secret")
