"""Rules about storage classes, their drivers and the volumes made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.storage.anywhere import Nfs
from infra.settings.models.storage.aws import Ebs, Efs, FsxLustre, MountpointS3
from infra.settings.models.storage.ceph import CephFs, CephRbd
from infra.settings.models.storage.common import Existing
from infra.settings.rules.rule import Violation, repeated, rule
from infra.settings.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.locate import KeyPath
    from infra.settings.models.settings import Settings
    from infra.settings.models.storage.scalars import AccessMode
    from infra.settings.models.storage.storage import AnyClass

STORAGE = ("cluster", "storage")
CLASSES = (*STORAGE, "classes")

DRIVERS: dict[type[AnyClass], str] = {
    Ebs: "ebs",
    Efs: "efs",
    FsxLustre: "fsxLustre",
    MountpointS3: "mountpointS3",
    Nfs: "nfs",
    CephRbd: "rook",
    CephFs: "rook",
}
"""Key under `cluster.storage.drivers` of the driver that each class needs."""


def modes_of(storage_class: AnyClass) -> frozenset[AccessMode]:
    """Return the access modes that volumes of a class may have."""
    return frozenset(storage_class.access_modes) if isinstance(storage_class, Existing) else storage_class.modes


@rule("cluster")
def classes_are_named_once(settings: Settings) -> Iterator[Violation]:
    """Refuse two storage classes of one name: they would be one object."""
    for index, name in repeated(each.name for each in settings.cluster.storage.classes):
        yield Violation((*CLASSES, index, "name"), f"another class is called {name}", "Write another name")


@rule("cluster")
def default_classes_serve_their_purpose(settings: Settings) -> Iterator[Violation]:
    """Refuse a default class that is not listed, or that volumes of its purpose cannot be made of."""
    storage = settings.cluster.storage
    defaults = storage.defaults
    purposes: tuple[tuple[str, str, AccessMode], ...] = (
        ("block", defaults.block, "ReadWriteOnce"),
        ("shared", defaults.shared, "ReadWriteMany"),
        ("scratch", defaults.scratch, "ReadWriteOnce"),
    )
    for key, name, mode in purposes:
        path = (*STORAGE, "defaults", key)
        found = storage.find(name)
        if found is None:
            yield unknown_class(path, name, settings)
        elif not found.dynamic:
            what = f"{name} has driver {found.driver}, which makes no volumes for claims"
            yield Violation(path, what, "Name another class")
        elif mode not in modes_of(found):
            what = f"{name} has driver {found.driver}, whose volumes cannot be {mode}"
            yield Violation(path, what, "Name another class")


def unknown_class(path: KeyPath, name: str, settings: Settings) -> Violation:
    """Return that a class is not listed."""
    known = [each.name for each in settings.cluster.storage.classes]
    remedy = f"{did_you_mean(name, known)}Write one of {', '.join(known)}, or add it to cluster.storage.classes"
    return Violation(path, f"{name} is not a class of cluster.storage.classes", remedy)


@rule("cluster")
def classes_have_their_driver(settings: Settings) -> Iterator[Violation]:
    """Refuse a class whose driver nobody brings: its claims would stay pending for ever."""
    drivers = settings.cluster.storage.drivers
    given = {field.alias for name, field in type(drivers).model_fields.items() if getattr(drivers, name)}
    for index, each in enumerate(settings.cluster.storage.classes):
        needed = DRIVERS.get(type(each))
        if needed and needed not in given:
            what = f"nobody brings the driver of {each.name}"
            remedy = f"Add cluster.storage.drivers.{needed} with source: install, or present if the platform has it"
            yield Violation((*CLASSES, index, "driver"), what, remedy)


@rule("cluster")
def roles_are_for_drivers_we_install(settings: Settings) -> Iterator[Violation]:
    """Refuse a role for a driver that is present: whoever brought it says which role it has."""
    drivers = settings.cluster.storage.drivers
    for name, field in type(drivers).model_fields.items():
        driver = getattr(drivers, name)
        if driver and driver.source == "present" and getattr(driver, "role", None):
            path = (*STORAGE, "drivers", field.alias or name, "role")
            yield Violation(path, "has no effect on a driver that is present", "Remove it, or write source: install")


@rule("cluster")
def ceph_is_used(settings: Settings) -> Iterator[Violation]:
    """Refuse a Ceph cluster without Rook's operator, or that no class is made of."""
    storage = settings.cluster.storage
    if storage.ceph is None:
        return
    if storage.drivers.rook is None:
        what = "nobody runs Rook, which makes or connects the Ceph cluster"
        yield Violation((*STORAGE, "ceph"), what, "Add cluster.storage.drivers.rook")
    if not any(isinstance(each, CephRbd | CephFs) for each in storage.classes):
        yield Violation((*STORAGE, "ceph"), "no class is of driver ceph-rbd or cephfs", "Add one, or remove ceph")
    pool = getattr(storage.ceph, "node_pool", None)
    pools = [each.name for each in settings.cluster.node_pools]
    if pool is not None and pool not in pools:
        remedy = f"{did_you_mean(pool, pools)}Write one of {', '.join(pools)}"
        yield Violation((*STORAGE, "ceph", "nodePool"), f"{pool} is not a pool of cluster.nodePools", remedy)


@rule("cluster")
def ceph_file_systems_name_their_pool(settings: Settings) -> Iterator[Violation]:
    """Refuse a data pool that is not called as Rook calls it, where Rook makes the file system."""
    storage = settings.cluster.storage
    if storage.ceph is None or storage.ceph.kind != "rook":
        return
    for index, each in enumerate(storage.classes):
        if isinstance(each, CephFs) and not each.pool.startswith(f"{each.fs_name}-"):
            what = f"Rook calls the pools of {each.fs_name} {each.fs_name}-<pool>"
            yield Violation((*CLASSES, index, "pool"), what, f"Write one such as {each.fs_name}-replicated")
