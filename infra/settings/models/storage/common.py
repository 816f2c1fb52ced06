"""What storage classes of every driver have in common."""

from __future__ import annotations

from typing import ClassVar, Literal

from infra.settings.models.base import Section
from infra.settings.models.storage.scalars import AccessMode, BindingMode, MountOption, ReclaimPolicy
from infra.settings.scalars import DnsName

ALL_MODES: frozenset[AccessMode] = frozenset({"ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod"})
ONE_NODE: frozenset[AccessMode] = frozenset({"ReadWriteOnce", "ReadWriteOncePod"})
OBJECTS: frozenset[AccessMode] = frozenset({"ReadWriteMany", "ReadOnlyMany"})


class ClassName(Section):
    """Name of a class, and what its driver can do, which rules check claims against."""

    modes: ClassVar[frozenset[AccessMode]]
    """Access modes its volumes may have."""

    dynamic: ClassVar[bool] = True
    """Whether volumes are made for claims; else each is declared under `cluster.storage.volumes`."""

    snapshots: ClassVar[bool] = False
    """Whether the driver takes snapshots."""

    name: DnsName
    """Name of the StorageClass. Volumes keep the class they were made by: renaming affects only new ones."""


class StorageClass(ClassName):
    """What classes that Flotilla declares have in common."""

    expands: ClassVar[bool] = True
    """Whether the driver grows volumes."""

    reclaim_policy: ReclaimPolicy = "Retain"
    """What becomes of data whose claim is deleted. `Retain` by default: data outlives jobs and mistakes."""

    mount_options: tuple[MountOption, ...] = ()
    """Options of the mount, in order."""

    volume_binding_mode: BindingMode = "Immediate"
    """When a volume is made. `Immediate` by default, as file servers reach every zone."""


class ZonalClass(StorageClass):
    """Volumes that live in one zone or on one node."""

    volume_binding_mode: BindingMode = "WaitForFirstConsumer"
    """When a volume is made. `WaitForFirstConsumer` by default: in the zone of the pod that mounts it."""


class Existing(ClassName):
    """A class the cluster brings: declared by nobody here, only referred to."""

    modes: ClassVar[frozenset[AccessMode]] = ALL_MODES

    driver: Literal["existing"]
    """A class that the cloud or somebody else declares."""

    access_modes: tuple[AccessMode, ...]
    """Access modes that its driver offers."""
