"""What pods request accelerators as: by vendor, and by how a pool shares its GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.gpu import Mig, Mps, TimeSlicing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from infra.settings.models.cluster import Cluster
    from infra.settings.models.gpu import Gpu, Sharing
    from infra.settings.models.node_pools import NodePool
    from infra.settings.models.teams import Quota

NVIDIA = "nvidia.com/gpu"
SHARED = f"{NVIDIA}.shared"
"""A part of a GPU that several pods use at once; never the same as a whole one."""

RESOURCES = {"nvidia": NVIDIA, "amd": "amd.com/gpu", "neuron": "aws.amazon.com/neuron"}
"""The resource a vendor's device plugin offers a whole accelerator as."""


def sharing_of(pool: NodePool, gpu: Gpu) -> Sharing | None:
    """Return how a pool's GPUs are shared; None when each belongs to one pod at a time."""
    return next((sharing for sharing in gpu.nvidia.sharing if pool.name in sharing.pools), None)


def devices_of(pool: NodePool, gpu: Gpu) -> dict[str, int]:
    """Return what one node of a pool offers, by resource; nothing where it has no accelerators."""
    count = pool.machine.gpus
    if not count:
        return {}
    match sharing_of(pool, gpu):
        case None:
            return {RESOURCES[pool.machine.vendor]: count}
        case Mig(strategy="single", slices=slices):
            return {NVIDIA: count * sum(each.count for each in slices)}
        case Mig(slices=slices):
            return {f"nvidia.com/mig-{each.resource}": count * each.count for each in slices}
        case TimeSlicing(replicas=replicas, rename=rename) | Mps(replicas=replicas, rename=rename):
            return {SHARED if rename else NVIDIA: count * replicas}


def offered(cluster: Cluster) -> list[str]:
    """Return every resource that some pool offers, sorted."""
    return sorted({resource for pool in cluster.node_pools for resource in devices_of(pool, cluster.gpu)})


def granted(quota: Quota, cluster: Cluster) -> dict[str, int]:
    """Return a quota of every resource that some pool offers: what Kubernetes is told nothing of is without limit."""
    return {
        resource: quota.gpus if resource == NVIDIA else quota.devices.get(resource, 0)
        for resource in sorted({NVIDIA, *offered(cluster), *quota.devices})
    }


def of_vendor(pools: Iterable[NodePool], vendor: str) -> tuple[NodePool, ...]:
    """Return the pools whose accelerators are of a vendor."""
    return tuple(pool for pool in pools if pool.machine.gpus and pool.machine.vendor == vendor)
