"""Storage classes on Ceph: RBD disks and CephFS, of a Ceph that Rook runs or one outside the cluster."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from infra.settings.models.base import Section
from infra.settings.models.storage.common import ALL_MODES, ONE_NODE, StorageClass, ZonalClass
from infra.settings.models.storage.scalars import AccessMode, BindingMode, BlockFileSystem
from infra.settings.scalars import DnsLabel, DnsName, Word


class RbdSecrets(Section):
    """Names of the Secrets that the RBD driver authenticates with; Rook makes them."""

    namespace: DnsLabel = "rook-ceph"
    """Namespace of both Secrets."""

    provisioner: DnsName = "rook-csi-rbd-provisioner"
    """Secret that volumes are made, grown and attached with."""

    node: DnsName = "rook-csi-rbd-node"
    """Secret that nodes mount with."""


class CephSecrets(Section):
    """Names of the Secrets that the CephFS driver authenticates with; Rook makes them."""

    namespace: DnsLabel = "rook-ceph"
    """Namespace of both Secrets."""

    provisioner: DnsName = "rook-csi-cephfs-provisioner"
    """Secret that volumes are made, grown and attached with."""

    node: DnsName = "rook-csi-cephfs-node"
    """Secret that nodes mount with."""


class CephRbd(ZonalClass):
    """Ceph RBD: a disk whose copies lie in several zones, mounted by one node at a time."""

    modes: ClassVar[frozenset[AccessMode]] = ONE_NODE
    snapshots: ClassVar[bool] = True

    driver: Literal["ceph-rbd"]
    """Ceph RBD by its CSI driver."""

    provisioner: DnsName = "rook-ceph.rbd.csi.ceph.com"
    """Name the CSI driver is registered by; Rook prefixes its operator's namespace."""

    cluster_id: Word
    """Ceph cluster; with Rook the namespace of the CephCluster."""

    pool: Word
    """Block pool; replicated at least three times."""

    fs_type: BlockFileSystem = "ext4"
    """File system that disks are formatted with."""

    secret_refs: RbdSecrets = RbdSecrets()
    """Names of the Secrets that the driver authenticates with."""

    volume_binding_mode: BindingMode = "Immediate"
    """When a volume is made. `Immediate` by default, as Ceph reaches every zone."""


class CephFs(StorageClass):
    """CephFS: a shared file system whose copies lie in several zones."""

    modes: ClassVar[frozenset[AccessMode]] = ALL_MODES
    snapshots: ClassVar[bool] = True

    driver: Literal["cephfs"]
    """CephFS by its CSI driver."""

    provisioner: DnsName = "rook-ceph.cephfs.csi.ceph.com"
    """Name the CSI driver is registered by; Rook prefixes its operator's namespace."""

    cluster_id: Word
    """Ceph cluster; with Rook the namespace of the CephCluster."""

    fs_name: Word
    """Name of the CephFilesystem."""

    pool: Word
    """Data pool of the file system; replicated at least three times. Rook calls it `<file system>-<pool>`."""

    secret_refs: CephSecrets = CephSecrets()
    """Names of the Secrets that the driver authenticates with."""


class RookCeph(Section):
    """A Ceph cluster of Rook's on disks of this cluster's nodes: 3 monitors, 2 managers, every object three times."""

    kind: Literal["rook"]
    """Rook runs Ceph here; pools and file systems that classes name are declared with it."""

    failure_domain: Literal["zone", "host"] = "zone"
    """What may be lost at a time: copies never share one. Zones need disks in three of them."""

    node_pool: DnsLabel
    """Node pool whose disks are used; its nodes carry empty, unformatted devices."""

    device_filter: str = "^nvme[1-9]n1$"
    """Which devices of a node, by a regular expression over their names."""


class ExternalCeph(Section):
    """A Ceph cluster outside, whose monitors and keys its administrator imports as Rook's `external` Secrets."""

    kind: Literal["external"]
    """Ceph runs elsewhere; Rook only connects it."""


Ceph: TypeAlias = RookCeph | ExternalCeph
