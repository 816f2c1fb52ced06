"""Storage classes on AWS: EBS, EFS, FSx for Lustre and S3 buckets as volumes."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from infra.settings.models.storage.common import ALL_MODES, OBJECTS, ONE_NODE, StorageClass, ZonalClass
from infra.settings.models.storage.scalars import (
    AccessMode,
    BlockFileSystem,
    KmsKeyArn,
    MountOption,
    PathPattern,
    S3Uri,
    SecurityGroupId,
    SubnetId,
)
from infra.settings.scalars import AbsolutePath, EfsId, Natural, NotEmpty, Noun, Permissions, Positive

Gp3Iops = Annotated[int, Field(ge=3_000, le=80_000), Noun("whole number from 3000 to 80000")]
Gp3Throughput = Annotated[int, Field(ge=125, le=2_000), Noun("whole number from 125 to 2000")]


class Ebs(ZonalClass):
    """Amazon EBS gp3: a disk of one zone, mounted by one node at a time."""

    modes: ClassVar[frozenset[AccessMode]] = ONE_NODE
    snapshots: ClassVar[bool] = True

    driver: Literal["ebs"]
    """Amazon EBS by its CSI driver."""

    iops: Gp3Iops = 3_000
    """Operations per second; 3000 come with the disk's price. At most 500 for each GiB of a volume."""

    throughput: Gp3Throughput = 125
    """MiB per second; 125 come with the disk's price. At most a quarter of `iops`."""

    encrypted: bool = True
    """Whether disks are encrypted."""

    kms_key_id: KmsKeyArn | None = None
    """Key that disks are encrypted with; the account's default for EBS when left out. Only with `encrypted`."""

    fs_type: BlockFileSystem = "ext4"
    """File system that disks are formatted with."""


class Efs(StorageClass):
    """Amazon EFS: one access point per volume, reachable from every zone."""

    modes: ClassVar[frozenset[AccessMode]] = ALL_MODES
    expands: ClassVar[bool] = False

    driver: Literal["efs"]
    """Amazon EFS by its CSI driver."""

    file_system_id: EfsId
    """Id of the file system, as `fs-` and hexadecimal digits. A regional file system, not one-zone."""

    directory_perms: Permissions = "700"
    """Mode of a volume's directory. The access point makes all pods its owner: nobody else needs access."""

    base_path: AbsolutePath = "/flotilla"
    """Directory on the file system below which volumes are made."""

    sub_path_pattern: PathPattern | None = None
    """Path of a volume below `basePath`, of `${.PVC.namespace}`, `${.PVC.name}` and `${.PV.name}`; the latter by
    default. The driver adds a unique ending."""

    uid: Natural | None = None
    """User id that all access is made under; chosen by the driver when left out. Only with `gid`."""

    gid: Natural | None = None
    """Group id that all access is made under; chosen by the driver when left out. Only with `uid`."""

    gid_range_start: Positive = 50_000
    """First group id the driver chooses from."""

    gid_range_end: Positive = 7_000_000
    """Last group id the driver chooses from."""


class FsxLustre(StorageClass):
    """Amazon FSx for Lustre: a parallel file system per volume, in one zone: the fastest scratch there is."""

    modes: ClassVar[frozenset[AccessMode]] = ALL_MODES

    driver: Literal["fsx-lustre"]
    """FSx for Lustre by its CSI driver."""

    subnet_id: SubnetId
    """Subnet, and so the zone, that file systems are made in: that of the GPU nodes."""

    security_group_ids: Annotated[tuple[SecurityGroupId, ...], NotEmpty()]
    """Security groups that let nodes reach Lustre, TCP 988 and 1018 to 1023."""

    deployment_type: Literal["SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"]
    """`SCRATCH_2` loses data with a file server; the persistent types replicate within the zone."""

    storage_type: Literal["SSD", "HDD"] = "SSD"
    """Disks of the file servers; `HDD` only with `PERSISTENT_1`."""

    per_unit_storage_throughput: Literal[12, 40, 50, 100, 125, 200, 250, 500, 1000] | None = None
    """MB per second for each TiB; which are offered depends on `deploymentType` and `storageType`. Only with the
    persistent types, which need it."""

    data_compression: bool = True
    """Whether files are compressed with LZ4."""

    kms_key_id: KmsKeyArn | None = None
    """Key that persistent file systems are encrypted with; the account's default when left out."""

    s3_import_path: S3Uri | None = None
    """Bucket and prefix whose objects appear as files. Not with `PERSISTENT_2`."""

    s3_export_path: S3Uri | None = None
    """Bucket and prefix that files are exported to. Only with `s3ImportPath`, and in its bucket."""

    automatic_backup_retention_days: Annotated[int, Field(ge=0, le=90), Noun("whole number from 0 to 90")] = 0
    """Days that daily backups are kept; 0 takes none. Only with the persistent types."""

    efa_enabled: bool = False
    """Whether GPU nodes reach it by Elastic Fabric Adapter. Only with `PERSISTENT_2`."""

    mount_options: tuple[MountOption, ...] = ("flock",)
    """Options of the mount, in order; `flock` makes locks hold across nodes."""


class MountpointS3(StorageClass):
    """S3 buckets as volumes by Mountpoint for Amazon S3: sequential reads and new files, no changes within files.

    The driver makes no volumes; declare each bucket under `cluster.storage.volumes`.
    """

    modes: ClassVar[frozenset[AccessMode]] = OBJECTS
    dynamic: ClassVar[bool] = False
    expands: ClassVar[bool] = False

    driver: Literal["mountpoint-s3"]
    """Mountpoint for Amazon S3 by its CSI driver."""
