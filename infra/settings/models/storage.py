"""The shared-storage class: volumes that many pods on many nodes mount at once."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.scalars import (
    AbsolutePath,
    DnsLabel,
    DnsName,
    EfsId,
    Natural,
    Permissions,
    Positive,
    Word,
)


class StorageClass(Section):
    """What shared-storage classes of every driver have in common."""

    name: DnsName = "shared"
    """Name of the StorageClass. Volumes keep the class they were made by: renaming affects only new ones."""

    default: bool = False
    """Whether claims without a class use this one. Off by default: notebooks do better on block storage."""

    reclaim_policy: Literal["Retain", "Delete"] = "Retain"
    """What becomes of data whose claim is deleted. `Retain` by default: data outlives jobs and mistakes."""

    mount_options: tuple[Word, ...] = ()
    """Options of the mount, in order."""

    volume_binding_mode: Literal["Immediate", "WaitForFirstConsumer"] = "Immediate"
    """When a volume is made. `Immediate` by default, as file servers reach every zone."""


class Efs(StorageClass):
    """Amazon EFS: one access point per volume, reachable from every zone."""

    driver: Literal["efs"]
    """Amazon EFS by its CSI driver."""

    file_system_id: EfsId
    """Id of the file system, as `fs-` and hexadecimal digits. A regional file system, not one-zone."""

    directory_perms: Permissions = "700"
    """Mode of a volume's directory. The access point makes all pods its owner: nobody else needs access."""

    base_path: AbsolutePath = "/flotilla"
    """Directory on the file system below which volumes are made."""

    uid: Natural | None = None
    """User id that all access is made under; chosen by the driver when left out. Only with `gid`."""

    gid: Natural | None = None
    """Group id that all access is made under; chosen by the driver when left out. Only with `uid`."""

    gid_range_start: Positive = 50_000
    """First group id the driver chooses from."""

    gid_range_end: Positive = 7_000_000
    """Last group id the driver chooses from."""


class CephSecrets(Section):
    """Names of the Secrets that the CSI driver authenticates with; Rook makes them."""

    namespace: DnsLabel = "rook-ceph"
    """Namespace of both Secrets."""

    provisioner: DnsName = "rook-csi-cephfs-provisioner"
    """Secret that volumes are made, grown and attached with."""

    node: DnsName = "rook-csi-cephfs-node"
    """Secret that nodes mount with."""


class CephFs(StorageClass):
    """CephFS, as Rook runs it on the cluster's own disks."""

    driver: Literal["cephfs"]
    """CephFS by its CSI driver."""

    provisioner: DnsName = "rook-ceph.cephfs.csi.ceph.com"
    """Name the CSI driver is registered by; Rook prefixes its operator's namespace."""

    cluster_id: Word
    """Ceph cluster; with Rook the namespace of the CephCluster."""

    fs_name: Word
    """Name of the CephFilesystem."""

    pool: Word
    """Data pool of the file system; replicated at least three times."""

    secret_refs: CephSecrets = CephSecrets()
    """Names of the Secrets that the driver authenticates with."""


class Nfs(StorageClass):
    """An NFS server, for clusters that have one already and for trials."""

    driver: Literal["nfs"]
    """NFS by its CSI driver."""

    server: DnsName
    """Host name or address of the server."""

    share: AbsolutePath
    """Exported path; each volume is a directory below it."""


SharedStorage = Annotated[Efs | CephFs | Nfs, Field(discriminator="driver")]
