"""Storage of a cluster: its classes, which of them are the defaults, drivers, snapshots and existing file systems."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.data.common import Installed
from infra.settings.models.storage.anywhere import CsiS3, Local, LocalPath, Nfs
from infra.settings.models.storage.aws import Ebs, Efs, FsxLustre, MountpointS3
from infra.settings.models.storage.azure import AzureBlob, AzureFiles
from infra.settings.models.storage.ceph import Ceph, CephFs, CephRbd
from infra.settings.models.storage.common import Existing
from infra.settings.models.storage.gcp import Filestore, GcsFuse
from infra.settings.models.storage.scalars import RoleArn
from infra.settings.models.storage.volumes import StaticVolume
from infra.settings.scalars import DnsName, NotEmpty

DeclaredClass: TypeAlias = (
    Ebs
    | Efs
    | FsxLustre
    | MountpointS3
    | CephRbd
    | CephFs
    | GcsFuse
    | Filestore
    | AzureFiles
    | AzureBlob
    | Nfs
    | CsiS3
    | Local
    | LocalPath
)
"""Classes that Flotilla makes."""

AnyClass: TypeAlias = Annotated[DeclaredClass | Existing, Field(discriminator="driver")]


class DefaultClasses(Section):
    """Which class is used for what, by name."""

    block: DnsName
    """Disks of one pod: databases, notebooks, and every claim that names no class."""

    shared: DnsName
    """Files that many pods share: data sets and checkpoints. Teams' quota of shared storage counts its volumes."""

    scratch: DnsName
    """Fast space for the length of a job."""


class Driver(Section):
    """A CSI driver that comes as a chart."""

    source: Installed
    """`install` its chart, highly available, or use what is `present`: an add-on of the cloud, or somebody's own."""


class AwsDriver(Driver):
    """A CSI driver that acts on AWS."""

    role: RoleArn | None = None
    """IAM role of its controller, by IRSA; the nodes' or a pod identity's when left out. Only with `install`."""


class Drivers(Section):
    """Drivers of the classes above. Those that are not here (Google's, Azure's, local disks) the platform brings."""

    ebs: AwsDriver | None = None
    """Amazon EBS."""

    efs: AwsDriver | None = None
    """Amazon EFS."""

    fsx_lustre: AwsDriver | None = None
    """FSx for Lustre."""

    mountpoint_s3: AwsDriver | None = None
    """Mountpoint for Amazon S3, which runs on nodes only."""

    nfs: Driver | None = None
    """NFS."""

    rook: Driver | None = None
    """Rook, whose operator brings the drivers of Ceph RBD and CephFS."""

    @property
    def rook_is_installed(self) -> bool:
        """Whether Rook's chart is installed."""
        return self.rook is not None and self.rook.source == "install"

    @property
    def any_is_installed(self) -> bool:
        """Whether the chart of any driver but Rook's is installed."""
        others = (self.ebs, self.efs, self.fsx_lustre, self.mountpoint_s3, self.nfs)
        return any(driver is not None and driver.source == "install" for driver in others)


class Snapshots(Section):
    """Snapshots of volumes."""

    controller: Literal["install", "present", "none"]
    """Whether Flotilla runs the snapshot controller with its schemas, the platform does, or nobody: then no
    VolumeSnapshotClass is declared."""

    deletion_policy: Literal["Retain", "Delete"] = "Retain"
    """What becomes of a snapshot whose object is deleted."""


class Storage(Section):
    """Volumes: classes, defaults, drivers, snapshots, and file systems that exist already."""

    defaults: DefaultClasses
    """Which class is used for what."""

    classes: Annotated[tuple[AnyClass, ...], NotEmpty()]
    """Storage classes, those of the platform's own (`driver: existing`) included."""

    drivers: Drivers = Drivers()
    """CSI drivers that come as charts."""

    ceph: Annotated[Ceph, Field(discriminator="kind")] | None = None
    """Ceph cluster that Rook runs or connects; none by default."""

    snapshots: Snapshots
    """Snapshots of volumes."""

    volumes: tuple[StaticVolume, ...] = ()
    """Existing file systems and buckets, offered to teams."""

    def find(self, name: str) -> DeclaredClass | Existing | None:
        """Return the class of that name."""
        return next((each for each in self.classes if each.name == name), None)
