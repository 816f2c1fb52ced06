"""Storage classes for any cluster: NFS, buckets of any S3 server, and the nodes' own disks."""

from __future__ import annotations

from typing import ClassVar, Literal

from infra.settings.models.base import Section
from infra.settings.models.storage.common import ALL_MODES, ONE_NODE, StorageClass, ZonalClass
from infra.settings.models.storage.scalars import (
    AccessMode,
    BindingMode,
    BucketName,
    MountOption,
    PathPattern,
    ReclaimPolicy,
)
from infra.settings.scalars import AbsolutePath, DnsLabel, DnsName


class Nfs(StorageClass):
    """An NFS server, for clusters that have one already and for trials."""

    modes: ClassVar[frozenset[AccessMode]] = ALL_MODES
    snapshots: ClassVar[bool] = True

    driver: Literal["nfs"]
    """NFS by its CSI driver."""

    server: DnsName
    """Host name or address of the server."""

    share: AbsolutePath
    """Exported path; each volume is a directory below it."""

    sub_dir: PathPattern | None = None
    """Path of a volume below `share`, of `${pvc.metadata.namespace}`, `${pvc.metadata.name}` and
    `${pv.metadata.name}`; the latter by default."""

    on_delete: Literal["delete", "retain", "archive"] = "delete"
    """What becomes of the directory of a volume that is deleted; with `reclaimPolicy: Retain` none is."""


class S3Secret(Section):
    """The Secret that the S3 driver signs with: `accessKeyID`, `secretAccessKey` and `endpoint`."""

    name: DnsName = "csi-s3"
    """Name of the Secret, which exists in the cluster."""

    namespace: DnsLabel = "kube-system"
    """Namespace of the Secret."""


class CsiS3(StorageClass):
    """Buckets of MinIO or any S3 server as volumes by GeeseFS: a prefix of one bucket per volume."""

    modes: ClassVar[frozenset[AccessMode]] = ALL_MODES - {"ReadWriteOncePod"}
    expands: ClassVar[bool] = False

    driver: Literal["csi-s3"]
    """S3 by the CSI driver of GeeseFS, `ru.yandex.s3.csi`."""

    bucket: BucketName
    """Bucket that volumes are prefixes of; made where it is missing."""

    secret_ref: S3Secret = S3Secret()
    """Secret that the driver signs with."""

    options: tuple[MountOption, ...] = ("--memory-limit 1000", "--dir-mode 0777", "--file-mode 0666")
    """Options of GeeseFS."""


class Local(ZonalClass):
    """Whole disks of the nodes, one volume each: the fastest scratch, gone with the node.

    Kubernetes makes no such volumes; a static provisioner does, or each is declared under `cluster.storage.volumes`.
    """

    modes: ClassVar[frozenset[AccessMode]] = ONE_NODE
    dynamic: ClassVar[bool] = False
    expands: ClassVar[bool] = False

    driver: Literal["local"]
    """Disks of the nodes, without a driver."""


class LocalPath(ZonalClass):
    """Directories on the nodes' disks, made for each claim: scratch whose size nobody enforces."""

    modes: ClassVar[frozenset[AccessMode]] = ONE_NODE
    expands: ClassVar[bool] = False

    driver: Literal["local-path"]
    """Directories of the nodes by Rancher's local path provisioner."""

    node_path: AbsolutePath | None = None
    """Directory below which volumes are made, one of the provisioner's own list; any of it when left out."""

    reclaim_policy: ReclaimPolicy = "Delete"
    """What becomes of data whose claim is deleted. `Delete` by default: scratch is not kept."""

    volume_binding_mode: BindingMode = "WaitForFirstConsumer"
    """When a volume is made. `WaitForFirstConsumer` by default: on the node of the pod that mounts it."""
