"""The storage of an environment: its classes, and what makes, mounts and snapshots their volumes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from infra.components.cluster.storage.drivers import CsiDrivers, CsiDriversArgs
from infra.components.cluster.storage.parameters import driver_of
from infra.components.cluster.storage.rook import Rook, RookArgs
from infra.components.cluster.storage.snapshots import SnapshotController, SnapshotControllerArgs
from infra.core import names
from infra.core.component import Component
from infra.core.namespace import Namespace, PodSecurity
from infra.core.plain_object import PlainObject
from infra.settings.models.storage.common import Existing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.settings.models.storage.storage import DeclaredClass
    from infra.settings.models.storage.storage import Storage as StorageSettings

PART_OF = "cluster"
NAMESPACE = "storage-system"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
DEFAULT_SNAPSHOTS = "snapshot.storage.kubernetes.io/is-default-class"
PURPOSE = f"{names.DOMAIN}/default-for"
"""Annotation of a class with what it is the default for: block, shared, scratch."""


@dataclass(frozen=True, kw_only=True)
class StorageArgs:
    """What storage is declared from.

    Args:
        settings: the environment's storage.
        context: the cluster's kubeconfig context, for the schemas applied outside the engine.
    """

    settings: StorageSettings
    context: pulumi.Input[str]


class Storage(Component):
    """Owns the StorageClasses and VolumeSnapshotClasses, and whatever of drivers the platform does not bring.

    File systems and disks behind the classes are their drivers'.

    Attributes:
        classes: the name of every class, by name, as an output that waits for it.
        shared: the name of the class of shared files.
    """

    group = "cluster"

    def __init__(self, name: str, args: StorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        storage = args.settings
        schemas = self._drivers(storage, args.context)
        self.classes: Mapping[str, pulumi.Output[str]] = {
            each.name: pulumi.Output.from_input(each.name)
            if isinstance(each, Existing)
            else self._class(each, storage).metadata.name
            for each in storage.classes
        }
        self.shared: pulumi.Output[str] = self.classes[storage.defaults.shared]
        if storage.snapshots.controller != "none":
            self._snapshot_classes(storage, schemas)
        self.register_outputs({"shared": self.shared})

    def _drivers(self, storage: StorageSettings, context: pulumi.Input[str]) -> list[pulumi.Resource]:
        """Declare what the platform does not bring; return what snapshot classes must wait for."""
        drivers, snapshots = storage.drivers, storage.snapshots.controller == "install"
        ready: list[pulumi.Resource] = []
        if snapshots or drivers.any_is_installed:
            level: PodSecurity = "privileged" if drivers.any_is_installed else "restricted"
            space = Namespace(NAMESPACE, part_of=PART_OF, pod_security=level, opts=self.child()).name
            if snapshots:
                controller = SnapshotControllerArgs(namespace=space, context=context)
                ready = SnapshotController("snapshots", controller, opts=self.child()).ready
            if drivers.any_is_installed:
                CsiDrivers("csi-drivers", CsiDriversArgs(settings=drivers, namespace=space), opts=self.child())
        if drivers.rook:
            Rook("rook", RookArgs(storage=storage), opts=self.child())
        return ready

    def _class(self, settings: DeclaredClass, storage: StorageSettings) -> k8s.storage.v1.StorageClass:
        driver = driver_of(settings)
        defaults = storage.defaults
        purposes = [
            purpose
            for purpose, name in (
                ("block", defaults.block),
                ("shared", defaults.shared),
                ("scratch", defaults.scratch),
            )
            if name == settings.name
        ]
        return k8s.storage.v1.StorageClass(
            settings.name,
            metadata=ObjectMetaArgs(
                name=settings.name,
                labels=names.labels(settings.name, part_of=PART_OF),
                annotations={
                    DEFAULT_CLASS: str("block" in purposes).lower(),
                    **({PURPOSE: ",".join(purposes)} if purposes else {}),
                },
            ),
            provisioner=driver.name,
            parameters=dict(driver.parameters) or None,
            reclaim_policy=settings.reclaim_policy,
            volume_binding_mode=settings.volume_binding_mode,
            allow_volume_expansion=True if settings.expands else None,
            mount_options=list(settings.mount_options) or None,
            opts=self.child(),
        )

    def _snapshot_classes(self, storage: StorageSettings, after: list[pulumi.Resource]) -> None:
        """Declare one class for each driver that takes snapshots, named after its first storage class."""
        seen: set[str] = set()
        for settings in storage.classes:
            if isinstance(settings, Existing) or not settings.snapshots:
                continue
            driver = driver_of(settings)
            if driver.name in seen:
                continue
            seen.add(driver.name)
            body = {
                "driver": driver.name,
                "deletionPolicy": storage.snapshots.deletion_policy,
                **({"parameters": dict(driver.snapshot_parameters)} if driver.snapshot_parameters else {}),
            }
            PlainObject(
                f"{settings.name}-snapshots",
                api_version="snapshot.storage.k8s.io/v1",
                kind="VolumeSnapshotClass",
                metadata={
                    "name": settings.name,
                    "labels": names.labels(settings.name, part_of=PART_OF),
                    "annotations": {DEFAULT_SNAPSHOTS: "true"},
                },
                body=body,
                opts=self.child(depends_on=after),
            )
