"""Finds the pods and containers inside every kind of object that makes pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.manifest import dig, group_kind, items

if TYPE_CHECKING:
    from policies.manifest import Manifest

_TEMPLATES: dict[str, tuple[str, ...]] = {
    "Pod": (),
    "PodTemplate": ("template",),
    "ReplicationController": ("spec", "template"),
    "Deployment.apps": ("spec", "template"),
    "ReplicaSet.apps": ("spec", "template"),
    "StatefulSet.apps": ("spec", "template"),
    "DaemonSet.apps": ("spec", "template"),
    "Job.batch": ("spec", "template"),
    "CronJob.batch": ("spec", "jobTemplate", "spec", "template"),
}

POD_KINDS = frozenset(_TEMPLATES)
"""Every kind whose objects hold a pod."""

REPLICATED_KINDS = frozenset({"Deployment.apps", "StatefulSet.apps", "ReplicaSet.apps", "ReplicationController"})
"""Kinds that keep a number of equal pods running."""

SERVING_KINDS = REPLICATED_KINDS | {"DaemonSet.apps"}
"""Kinds whose pods run until they are told to stop."""


@dataclass(frozen=True, kw_only=True)
class Container:
    """One container of a pod.

    Attributes:
        label: how a message names it.
        spec: the container as declared.
        lasting: whether it runs as long as its pod: a container, or an init container that is a sidecar.
    """

    label: str
    spec: object
    lasting: bool


def pod(manifest: Manifest) -> object:
    """Return the pod (its metadata and spec) that the object makes; None for other kinds."""
    path = _TEMPLATES.get(group_kind(manifest))
    return None if path is None else dig(manifest, *path)


def pod_labels(manifest: Manifest) -> object:
    """Return the labels of the pods the object makes."""
    return dig(pod(manifest), "metadata", "labels")


def containers(manifest: Manifest) -> list[Container]:
    """Return the containers and init containers of the object's pod."""
    spec = dig(pod(manifest), "spec")
    main = [
        Container(label=f"container {dig(each, 'name')}", spec=each, lasting=True)
        for each in items(dig(spec, "containers"))
    ]
    init = [
        Container(
            label=f"init container {dig(each, 'name')}",
            spec=each,
            lasting=dig(each, "restartPolicy") == "Always",
        )
        for each in items(dig(spec, "initContainers"))
    ]
    return main + init
