"""The object store: whose it is, how the platform and its teams sign in, and which buckets there are."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.data.common import CaRef, DataKey, Installed
from infra.settings.models.storage.scalars import BucketName, HttpUrl, RoleArn, StorageAccount
from infra.settings.scalars import DnsLabel, DnsName, Memory, Noun, Positive, Text, Word

OBJECT_STORE_NAMESPACE = "object-store"
"""Namespace of an object store that an operator runs on this platform."""

TEAM_ROLE = r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[-A-Za-z0-9_+=,.@/]*\{team\}[-A-Za-z0-9_+=,.@/]*"

TeamRoleArn = Annotated[
    str,
    Text(TEAM_ROLE, 2048, "role ARN with {team}", "Write one such as arn:aws:iam::111122223333:role/flotilla-{team}"),
]
"""ARN of an IAM role for each team, with `{team}` in place of its name."""

_ACCOUNT = r"@[a-z][-a-z0-9]{4,28}[a-z0-9]\.iam\.gserviceaccount\.com"

GoogleAccount = Annotated[
    str,
    Text(
        rf"[a-z][-a-z0-9]{{4,28}}[a-z0-9]{_ACCOUNT}",
        120,
        "Google service account",
        "Write one such as flotilla@my-project.iam.gserviceaccount.com",
    ),
]
"""Google service account that the platform acts as."""

TeamGoogleAccount = Annotated[
    str,
    Text(
        rf"([a-z][-a-z0-9]*)?\{{team\}}[-a-z0-9]*{_ACCOUNT}",
        150,
        "Google service account with {team}",
        "Write one such as flotilla-{team}@my-project.iam.gserviceaccount.com",
    ),
]
"""Google service account of each team, with `{team}` in place of its name."""

ClientId = Annotated[
    str,
    Text(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36, "client id", "Write the identity's client id, a UUID"),
]
"""Client id of an Azure managed identity."""

Quorum = Annotated[int, Field(ge=3, le=7), Noun("whole number from 3 to 7")]


class StoreKeys(Section):
    """Access keys in Secrets that exist in the cluster: values hold no secrets."""

    kind: Literal["keys"]
    """Access keys."""

    secret: DnsName = "mlpipeline-minio-artifact"  # noqa: S105 - a name
    """Secret of the namespace `kubeflow` with the platform's key, which may use every bucket."""

    team_secret: DnsName = "mlpipeline-minio-artifact"  # noqa: S105 - a name
    """Secret of each team's namespace with a key of its own, which may use no more than the team's prefixes."""

    access_key: DataKey = "accesskey"
    """Key of the access key's id in both Secrets."""

    secret_key: DataKey = "secretkey"  # noqa: S105 - the name of a key
    """Key of the secret access key in both Secrets."""


class Irsa(Section):
    """IAM roles, by the ServiceAccount of each pod: no key exists that could leak."""

    kind: Literal["irsa"]
    """IAM roles for service accounts."""

    role: RoleArn
    """Role of the platform's components, which may use every bucket."""

    team_role: TeamRoleArn
    """Role of each team's pods, which may use no more than the team's prefixes."""


class WorkloadIdentity(Section):
    """Google service accounts, by the ServiceAccount of each pod."""

    account: GoogleAccount
    """Account that the platform's components act as."""

    team_account: TeamGoogleAccount
    """Account that each team's pods act as."""


class AzureIdentity(Section):
    """Azure managed identities, by the ServiceAccount of each pod."""

    client_id: ClientId
    """Identity of the platform's components."""

    team_client_ids: dict[DnsLabel, ClientId]
    """Identity of each team's pods, by the team's name."""


class Bucket(Section):
    """One bucket."""

    name: BucketName
    """Name of the bucket."""

    expire_days: Positive | None = None
    """Days after which an object is deleted; null keeps it."""


class Buckets(Section):
    """Buckets by what they hold."""

    pipelines: Bucket
    """Artifacts of pipelines; each team's lie below `private-artifacts/<team>/`."""

    checkpoints: Bucket
    """Checkpoints and results of training jobs; each team's lie below `<team>/`."""

    logs: Bucket
    """Logs, by Loki."""

    backups: Bucket
    """Backups of the platform's databases."""


class Store(Section):
    """What object stores of every kind have in common."""

    buckets: Buckets
    """Buckets by what they hold."""


class ManagedStore(Store):
    """A store whose buckets Flotilla may look after."""

    manage_buckets: bool = True
    """Whether a Job makes missing buckets and sets how long objects are kept; turn it off where others do."""


class S3Store(ManagedStore):
    """Amazon S3."""

    kind: Literal["s3"]
    """Amazon S3."""

    region: Word
    """Region of the buckets."""

    endpoint: HttpUrl | None = None
    """Endpoint to use instead of the region's own: one in your network."""

    identity: Annotated[Irsa | StoreKeys, Field(discriminator="kind")]
    """How pods sign in."""


class GcsStore(Store):
    """Google Cloud Storage. Buckets and their lifecycle are made with the Google project."""

    kind: Literal["gcs"]
    """Google Cloud Storage."""

    identity: WorkloadIdentity
    """How pods sign in."""

    hmac: StoreKeys
    """HMAC keys of the same accounts: Pipelines' API server and UI speak only S3, which Google understands too."""


class PipelinesStore(Section):
    """An S3 endpoint for Pipelines alone."""

    endpoint: HttpUrl
    """Scheme, host and port."""

    region: Word = "us-east-1"
    """Region that requests are signed for."""

    identity: StoreKeys
    """How pods sign in."""


class AzureStore(Store):
    """Azure Blob. Containers and their lifecycle are made with the storage account."""

    kind: Literal["azure"]
    """Azure Blob."""

    account: StorageAccount
    """Storage account of the containers."""

    identity: AzureIdentity
    """How pods sign in."""

    pipelines: PipelinesStore
    """S3 endpoint for Pipelines, which cannot use Azure Blob: its client speaks S3 and nothing else."""


class CompatibleStore(ManagedStore):
    """MinIO, Ceph's gateway or any other server that speaks S3."""

    kind: Literal["s3-compatible"]
    """Any S3 endpoint that somebody else runs."""

    endpoint: HttpUrl
    """Scheme, host and port."""

    region: Word = "us-east-1"
    """Region that requests are signed for."""

    ca: CaRef | None = None
    """Authority that signed the server's certificate; those that images bring when left out."""

    identity: StoreKeys
    """How pods sign in."""


class StoreVolume(Section):
    """The disk of each server."""

    size: Memory
    """Size of each disk, in bytes."""

    storage_class: DnsName | None = None
    """StorageClass of the disks; the cluster's block class when left out."""


class FilerConfig(Section):
    """SeaweedFS' `filer.toml`, which names the database that all filers share, password included."""

    secret: DnsName = "seaweedfs-filer"  # noqa: S105 - a name
    """Secret of the namespace `object-store` that holds it. Not leveldb: each filer would have its own."""

    key: DataKey = "filer.toml"
    """Key of the file in the Secret."""


class SeaweedStore(ManagedStore):
    """SeaweedFS on this platform: 3 masters, data servers in every zone, filers and gateways on a shared database."""

    kind: Literal["seaweedfs"]
    """SeaweedFS by its operator."""

    installed: Installed = "install"
    """Whether Flotilla installs the operator's chart, or the platform brings the operator."""

    servers_per_zone: Positive = 1
    """Data servers in each of the cluster's zones; every object lies in two zones."""

    volume: StoreVolume
    """The disk of each data server."""

    gateways: Quorum = 3
    """Filers and S3 gateways, of each."""

    filer: FilerConfig = FilerConfig()
    """Where filers keep names and places of objects."""


class MinioStore(ManagedStore):
    """MinIO on this platform by its operator. Its community edition is archived: prefer another for new platforms."""

    kind: Literal["minio-operator"]
    """MinIO by its operator."""

    installed: Installed = "install"
    """Whether Flotilla installs the operator's chart, or the platform brings the operator."""

    servers: Annotated[int, Field(ge=4, le=32), Noun("whole number from 4 to 32")] = 4
    """Servers of the pool, on as many nodes."""

    volumes_per_server: Annotated[int, Field(ge=1, le=16), Noun("whole number from 1 to 16")] = 4
    """Disks of each server."""

    volume: StoreVolume
    """Each disk."""

    configuration_secret: DnsName = "minio-configuration"  # noqa: S105 - a name
    """Secret of the namespace `object-store` with `config.env`, which sets the root user; it exists in the cluster."""

    identity: StoreKeys
    """How pods sign in."""


ObjectStore: TypeAlias = S3Store | GcsStore | AzureStore | CompatibleStore | SeaweedStore | MinioStore
AnyObjectStore: TypeAlias = Annotated[ObjectStore, Field(discriminator="kind")]
