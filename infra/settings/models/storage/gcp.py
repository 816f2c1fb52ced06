"""Storage classes on Google Cloud: buckets as volumes by Cloud Storage FUSE, and Filestore."""

from __future__ import annotations

from typing import ClassVar, Literal

from infra.settings.models.storage.common import ALL_MODES, OBJECTS, StorageClass
from infra.settings.models.storage.scalars import AccessMode, CloudPath, MountOption
from infra.settings.scalars import CidrBlock


class GcsFuse(StorageClass):
    """Cloud Storage buckets as volumes. GKE's add-on brings the driver; pods ask for its side container.

    The driver makes no volumes; declare each bucket under `cluster.storage.volumes`.
    """

    modes: ClassVar[frozenset[AccessMode]] = OBJECTS
    dynamic: ClassVar[bool] = False
    expands: ClassVar[bool] = False

    driver: Literal["gcsfuse"]
    """Cloud Storage FUSE by its CSI driver."""

    mount_options: tuple[MountOption, ...] = ("implicit-dirs",)
    """Options of the mount, in order; `implicit-dirs` shows folders that other tools wrote."""


class Filestore(StorageClass):
    """Google Filestore: an NFS server per volume, managed by the cloud."""

    modes: ClassVar[frozenset[AccessMode]] = ALL_MODES
    snapshots: ClassVar[bool] = True

    driver: Literal["filestore"]
    """Filestore by its CSI driver, which GKE's add-on brings."""

    tier: Literal["standard", "premium", "zonal", "regional", "enterprise"] = "enterprise"
    """Service tier. `regional` and `enterprise` survive the loss of a zone."""

    network: CloudPath = "default"
    """VPC that the server is reached from."""

    connect_mode: Literal["DIRECT_PEERING", "PRIVATE_SERVICE_ACCESS"] = "DIRECT_PEERING"
    """How the server joins the VPC; a shared VPC needs `PRIVATE_SERVICE_ACCESS`."""

    reserved_cidr: CidrBlock | None = None
    """Range that servers' addresses are taken from; chosen by the cloud when left out. Only with
    `DIRECT_PEERING`."""
