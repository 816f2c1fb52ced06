"""Volumes of a team: checkpoints, data and scratch of its own, and its share of existing file systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra.components.tenancy.volumes.sources import LocalDisk, Mounted, mounted
from infra.core import names
from infra.core.component import Component
from infra.node_labels import HOST

if TYPE_CHECKING:
    from infra.settings.models.storage.storage import AnyClass, Storage
    from infra.settings.models.storage.volumes import StaticVolume
    from infra.settings.models.teams import Team, TeamVolume

PART_OF = "tenancy"
PURPOSE = f"{names.DOMAIN}/purpose-of-volume"

PATIENCE = pulumi.CustomTimeouts(create="20m")
"""A Lustre file system takes some ten minutes to be made; the engine's own patience is five."""


@dataclass(frozen=True, kw_only=True)
class TeamVolumesArgs:
    """What a team's volumes are declared from.

    Args:
        settings: the team.
        storage: the cluster's classes, defaults and existing file systems.
        namespace: the team's namespace.
        classes: name of every class, as an output that waits for it.
    """

    settings: Team
    storage: Storage
    namespace: pulumi.Input[str]
    classes: Mapping[str, pulumi.Output[str]]


class TeamVolumes(Component):
    """Owns the team's claims, and the PersistentVolumes of existing file systems; owns no data.

    A claim that goes takes no data along where its class retains, as it does by default; a PersistentVolume of an
    existing file system always retains.
    """

    group = "tenancy"

    def __init__(self, name: str, args: TeamVolumesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._args = args
        self._team = args.settings.name
        for volume in args.settings.volumes:
            self._claim(volume)
        for existing in args.storage.volumes:
            storage_class = args.storage.find(existing.storage_class)
            if storage_class and self._team in existing.teams:
                self._share(existing, storage_class)
        self.register_outputs({})

    def _labels(self) -> dict[str, str]:
        return names.labels(self._team, part_of=PART_OF) | {names.TEAM: self._team}

    def _claim(self, volume: TeamVolume) -> None:
        defaults = self._args.storage.defaults
        default = defaults.scratch if volume.purpose == "scratch" else defaults.shared
        k8s.core.v1.PersistentVolumeClaim(
            f"{self._team}-{volume.name}",
            metadata=self._metadata(volume.name, volume.purpose),
            spec=k8s.core.v1.PersistentVolumeClaimSpecArgs(
                storage_class_name=self._args.classes[volume.storage_class or default],
                access_modes=[volume.access_mode],
                resources=k8s.core.v1.VolumeResourceRequirementsArgs(requests={"storage": str(volume.size)}),
            ),
            opts=self._patient(),
        )

    def _patient(self) -> pulumi.ResourceOptions:
        """Return a child's options that wait until a slow driver has made the volume."""
        return pulumi.ResourceOptions.merge(self.child(), pulumi.ResourceOptions(custom_timeouts=PATIENCE))

    def _share(self, volume: StaticVolume, storage_class: AnyClass) -> None:
        """Declare a PersistentVolume that only this team's claim can have, and the claim."""
        name = names.bounded(f"{self._team}-{volume.name}")
        source = mounted(volume, storage_class, owner=name)
        read_only = volume.access_mode == "ReadOnlyMany"
        class_options = () if storage_class.driver == "existing" else storage_class.mount_options
        given = class_options if volume.mount_options is None else volume.mount_options
        own = source.options if isinstance(source, Mounted) else ()
        class_name = self._args.classes[volume.storage_class]
        made = k8s.core.v1.PersistentVolume(
            name,
            metadata=k8s.meta.v1.ObjectMetaArgs(name=name, labels=self._labels()),
            spec=k8s.core.v1.PersistentVolumeSpecArgs(
                storage_class_name=class_name,
                capacity={"storage": str(volume.size)},
                access_modes=[volume.access_mode],
                persistent_volume_reclaim_policy="Retain",
                mount_options=[*own, *given] or None,
                claim_ref=k8s.core.v1.ObjectReferenceArgs(
                    api_version="v1", kind="PersistentVolumeClaim", name=volume.name, namespace=self._args.namespace
                ),
                csi=_csi(source, read_only=read_only) if isinstance(source, Mounted) else None,
                local=k8s.core.v1.LocalVolumeSourceArgs(path=source.path) if isinstance(source, LocalDisk) else None,
                node_affinity=_on(source.node) if isinstance(source, LocalDisk) else None,
            ),
            opts=self.child(),
        )
        k8s.core.v1.PersistentVolumeClaim(
            name,
            metadata=self._metadata(volume.name, "data"),
            spec=k8s.core.v1.PersistentVolumeClaimSpecArgs(
                storage_class_name=class_name,
                volume_name=made.metadata.name,
                access_modes=[volume.access_mode],
                resources=k8s.core.v1.VolumeResourceRequirementsArgs(requests={"storage": str(volume.size)}),
            ),
            opts=self.child(),
        )

    def _metadata(self, name: str, purpose: str) -> k8s.meta.v1.ObjectMetaArgs:
        return k8s.meta.v1.ObjectMetaArgs(
            name=name, namespace=self._args.namespace, labels=self._labels(), annotations={PURPOSE: purpose}
        )


def _csi(source: Mounted, *, read_only: bool) -> k8s.core.v1.CSIPersistentVolumeSourceArgs:
    secret = source.secret
    return k8s.core.v1.CSIPersistentVolumeSourceArgs(
        driver=source.driver,
        volume_handle=source.handle,
        volume_attributes=dict(source.attributes) or None,
        read_only=True if read_only else None,
        node_stage_secret_ref=k8s.core.v1.SecretReferenceArgs(name=secret[0], namespace=secret[1]) if secret else None,
    )


def _on(node: str) -> k8s.core.v1.VolumeNodeAffinityArgs:
    here = k8s.core.v1.NodeSelectorRequirementArgs(key=HOST, operator="In", values=[node])
    terms = [k8s.core.v1.NodeSelectorTermArgs(match_expressions=[here])]
    return k8s.core.v1.VolumeNodeAffinityArgs(required=k8s.core.v1.NodeSelectorArgs(node_selector_terms=terms))
