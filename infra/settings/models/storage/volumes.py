"""Volumes of file systems and buckets that exist already: one PersistentVolume and claim for each team."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.storage.scalars import (
    AccessMode,
    AccessPointId,
    AzureName,
    BucketName,
    CloudPath,
    ContainerName,
    FsxId,
    KeyPrefix,
    MountOption,
    StorageAccount,
)
from infra.settings.scalars import AbsolutePath, DnsLabel, DnsName, EfsId, Memory, NotEmpty, Word


class EfsSource(Section):
    """A directory or access point of an EFS file system."""

    driver: Literal["efs"]
    """Amazon EFS."""

    file_system_id: EfsId
    """Id of the file system."""

    path: AbsolutePath | None = None
    """Directory of it; its root when left out."""

    access_point_id: AccessPointId | None = None
    """Access point of it, which sets user and directory; none by default."""


class FsxLustreSource(Section):
    """An FSx for Lustre file system."""

    driver: Literal["fsx-lustre"]
    """FSx for Lustre."""

    file_system_id: FsxId
    """Id of the file system."""

    dns_name: DnsName
    """Its DNS name."""

    mount_name: Word
    """Its mount name, as the console shows it."""


class CephFsSource(Section):
    """A directory of a CephFS file system."""

    driver: Literal["cephfs"]
    """CephFS; cluster, file system and Secrets are those of the class."""

    root_path: AbsolutePath
    """Directory of the file system."""


class NfsSource(Section):
    """A directory of an NFS server."""

    driver: Literal["nfs"]
    """NFS."""

    server: DnsName
    """Host name or address of the server."""

    share: AbsolutePath
    """Exported directory."""


class FilestoreSource(Section):
    """A share of a Filestore instance."""

    driver: Literal["filestore"]
    """Google Filestore."""

    instance: CloudPath
    """Location and name of the instance, as `europe-west4-a/datasets`."""

    share: Word
    """Name of the file share."""

    address: DnsName
    """IP address of the instance."""


class MountpointS3Source(Section):
    """A bucket, or a prefix of one, of S3 or a compatible server."""

    driver: Literal["mountpoint-s3"]
    """Mountpoint for Amazon S3."""

    bucket: BucketName
    """Name of the bucket."""

    prefix: KeyPrefix | None = None
    """First part of its keys; the whole bucket when left out."""

    region: Word
    """Region of the bucket."""

    credentials: Literal["driver", "pod"] = "pod"
    """Whose rights count: those of the pod's ServiceAccount, by IRSA, or those of the driver."""


class GcsFuseSource(Section):
    """A Cloud Storage bucket, or a folder of one."""

    driver: Literal["gcsfuse"]
    """Cloud Storage FUSE."""

    bucket: BucketName
    """Name of the bucket."""

    folder: KeyPrefix | None = None
    """Folder of it; the whole bucket when left out."""

    file_cache_capacity: Memory | None = None
    """How much of the pod's cache volume files may fill, in bytes; no cache when left out."""


class AzureFilesSource(Section):
    """An NFS share of an Azure storage account."""

    driver: Literal["azure-files"]
    """Azure Files."""

    resource_group: AzureName
    """Resource group of the account."""

    storage_account: StorageAccount
    """The account."""

    share: ContainerName
    """Name of the file share."""


class AzureBlobSource(Section):
    """A container of an Azure storage account."""

    driver: Literal["azure-blob"]
    """Azure Blob; the protocol is the class's."""

    resource_group: AzureName
    """Resource group of the account."""

    storage_account: StorageAccount
    """The account."""

    container: ContainerName
    """Name of the container."""


class LocalSource(Section):
    """A directory or disk of one node."""

    driver: Literal["local"]
    """A disk of a node."""

    node: DnsName
    """Name of the node."""

    path: AbsolutePath
    """Where the disk is mounted on the node."""


Source = Annotated[
    EfsSource
    | FsxLustreSource
    | CephFsSource
    | NfsSource
    | FilestoreSource
    | MountpointS3Source
    | GcsFuseSource
    | AzureFilesSource
    | AzureBlobSource
    | LocalSource,
    Field(discriminator="driver"),
]


class StaticVolume(Section):
    """A file system or bucket that exists, offered to teams as a claim of the same name in their namespaces."""

    name: DnsLabel
    """Name of the claim."""

    storage_class: DnsName
    """Class of volume and claim; its driver mounts it."""

    size: Memory
    """Size that volume and claim show, in bytes; file systems and buckets do not enforce it."""

    access_mode: AccessMode = "ReadOnlyMany"
    """Who may mount it at a time. Read-only by default, as data sets are."""

    mount_options: tuple[MountOption, ...] | None = None
    """Options of the mount, in order; the class's when left out."""

    teams: Annotated[tuple[DnsLabel, ...], NotEmpty()]
    """Teams that get a claim."""

    source: Source
    """What is mounted."""
