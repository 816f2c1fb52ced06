"""How the object store is reached and signed in to, whatever kind it is: plain data, made from the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import urlsplit

from infra.settings.models.data.object_store import (
    OBJECT_STORE_NAMESPACE,
    AzureStore,
    CompatibleStore,
    GcsStore,
    Irsa,
    MinioStore,
    S3Store,
    SeaweedStore,
    StoreKeys,
)

if TYPE_CHECKING:
    from infra.settings.models.data.common import CaRef
    from infra.settings.models.data.object_store import ObjectStore

Scheme: TypeAlias = Literal["s3", "minio", "gs"]

SEAWEED, SEAWEED_PORT = "seaweedfs", 8333
MINIO = "minio"
PORTS = {"http": 80, "https": 443}
COMMON_REGION = "us-east-1"
"""Region that a server without regions expects requests to be signed for."""

OWN_KEYS = StoreKeys(kind="keys")
"""Where the keys lie that we make for a store that we run: where Pipelines looks for them."""


@dataclass(frozen=True, kw_only=True)
class Keys:
    """A Secret with an access key.

    Args:
        secret: name of the Secret.
        access_key: its key with the access key's id.
        secret_key: its key with the secret access key.
    """

    secret: str
    access_key: str
    secret_key: str


@dataclass(frozen=True, kw_only=True)
class Access:
    """How the S3 API of a store is used.

    Args:
        scheme: what URIs of its objects start with, as Pipelines' launcher writes them.
        host: host name.
        port: TCP port.
        secure: whether it is reached by TLS.
        region: region that requests are signed for.
        keys: the platform's key, in the namespace of Pipelines; None where pods have an identity.
        team_keys: each team's key, in its namespace; None where pods have an identity.
        ca: authority of its certificate; None for those that images bring.
    """

    scheme: Scheme
    host: str
    port: int
    secure: bool
    region: str
    keys: Keys | None
    team_keys: Keys | None
    ca: CaRef | None = None

    @property
    def address(self) -> str:
        """Host, with the port where it is not the protocol's own."""
        default = PORTS["https" if self.secure else "http"]
        return self.host if self.port == default else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """Scheme, host and port of the endpoint."""
        return f"{'https' if self.secure else 'http'}://{self.address}"


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What binds a ServiceAccount to an identity of the cloud.

    Args:
        annotations: annotations of the ServiceAccount.
        pod_labels: labels of its pods.
    """

    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    pod_labels: Mapping[str, str] = field(default_factory=dict[str, str])


def access(store: ObjectStore) -> Access:
    """Return how Pipelines and everything else that speaks S3 uses the store."""
    match store:
        case S3Store():
            endpoint = store.endpoint or f"https://s3.{store.region}.amazonaws.com"
            keys = store.identity if isinstance(store.identity, StoreKeys) else None
            return _access("s3", endpoint, store.region, keys)
        case GcsStore():
            return _access("gs", "https://storage.googleapis.com", "auto", store.hmac)
        case AzureStore():
            pipelines = store.pipelines
            return _access("minio", pipelines.endpoint, pipelines.region, pipelines.identity)
        case CompatibleStore():
            return _access("minio", store.endpoint, store.region, store.identity, store.ca)
        case SeaweedStore():
            endpoint = f"http://{SEAWEED}-s3.{OBJECT_STORE_NAMESPACE}.svc.cluster.local:{SEAWEED_PORT}"
            return _access("minio", endpoint, COMMON_REGION, OWN_KEYS)
        case MinioStore():
            endpoint = f"http://{MINIO}.{OBJECT_STORE_NAMESPACE}.svc.cluster.local"
            return _access("minio", endpoint, COMMON_REGION, store.identity)


def platform_identity(store: ObjectStore) -> Identity:
    """Return what the ServiceAccounts of the platform's components need."""
    match store:
        case S3Store(identity=Irsa(role=role)):
            return Identity(annotations={"eks.amazonaws.com/role-arn": role})
        case GcsStore():
            return Identity(annotations={"iam.gke.io/gcp-service-account": store.identity.account})
        case AzureStore():
            return _azure(store.identity.client_id)
        case _:
            return Identity()


def team_identity(store: ObjectStore, team: str) -> Identity:
    """Return what the ServiceAccounts of a team's pods need."""
    match store:
        case S3Store(identity=Irsa(team_role=role)):
            return Identity(annotations={"eks.amazonaws.com/role-arn": role.replace("{team}", team)})
        case GcsStore():
            account = store.identity.team_account.replace("{team}", team)
            return Identity(annotations={"iam.gke.io/gcp-service-account": account})
        case AzureStore():
            return _azure(store.identity.team_client_ids[team])
        case _:
            return Identity()


def _azure(client_id: str) -> Identity:
    """Source: https://azure.github.io/azure-workload-identity/docs/topics/service-account-labels-and-annotations.html."""
    prefix = "azure.workload.identity"
    return Identity(annotations={f"{prefix}/client-id": client_id}, pod_labels={f"{prefix}/use": "true"})


def _access(scheme: Scheme, endpoint: str, region: str, keys: StoreKeys | None, ca: CaRef | None = None) -> Access:
    parts = urlsplit(endpoint)
    return Access(
        scheme=scheme,
        host=parts.hostname or "",
        port=parts.port or PORTS[parts.scheme],
        secure=parts.scheme == "https",
        region=region,
        keys=_keys(keys, keys.secret) if keys else None,
        team_keys=_keys(keys, keys.team_secret) if keys else None,
        ca=ca,
    )


def _keys(keys: StoreKeys, secret: str) -> Keys:
    return Keys(secret=secret, access_key=keys.access_key, secret_key=keys.secret_key)
