"""What every back end says of a pool's machines: labels, resources, budgets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from infra.core import names
from infra.settings.devices import NVIDIA, devices_of, sharing_of
from infra.settings.models.node_pools import Efa, InOneRack, NvLink, Rdma

if TYPE_CHECKING:
    from infra.settings.models.gpu import Gpu
    from infra.settings.models.node_pools import NodePool
    from infra.settings.quantity import Quantity

EFA = "vpc.amazonaws.com/efa"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
RACK = f"{names.DOMAIN}/rack"
FABRIC = f"{names.DOMAIN}/fabric"
FABRIC_DOMAIN = f"{names.DOMAIN}/fabric-domain-label"


def labels(pool: NodePool) -> dict[str, str]:
    """Return the labels of the pool's nodes, but for those that the cloud sets.

    NVIDIA's feature discovery sets its labels once a node is there. An autoscaler has to know them before, or pods
    that choose by them never make a pool grow.
    """
    found = {names.NODE_POOL: pool.name, names.NODE_PURPOSE: pool.purpose}
    if pool.machine.vendor == "nvidia" and pool.machine.gpus and pool.machine.accelerator:
        found |= {f"{NVIDIA}.present": "true", f"{NVIDIA}.product": pool.machine.accelerator}
    if isinstance(pool.placement, InOneRack):
        found[RACK] = pool.placement.name
    if pool.fabric:
        found[FABRIC] = pool.fabric.kind
    return found | pool.labels


def node_annotations(pool: NodePool) -> dict[str, str]:
    """Return the annotations of the pool's nodes: which label tells the nodes that share an NVLink domain."""
    return {FABRIC_DOMAIN: pool.fabric.domain} if isinstance(pool.fabric, NvLink) else {}


def fabric_devices(pool: NodePool) -> dict[str, str]:
    """Return the devices of the fabric that pods can ask for, by resource name."""
    match pool.fabric:
        case Efa(interfaces=count):
            return {EFA: str(count)}
        case Rdma(resource=resource, devices=count):
            return {resource: str(count)}
        case _:
            return {}


def resources(pool: NodePool, gpu: Gpu) -> dict[str, str]:
    """Return what one machine offers to pods, by resource name: accelerators as the pool shares them."""
    devices = {name: str(count) for name, count in devices_of(pool, gpu).items()}
    return {"cpu": str(pool.machine.cpu), "memory": str(pool.machine.memory), **devices, **fabric_devices(pool)}


def whole(pool: NodePool, gpu: Gpu) -> dict[str, str]:
    """Return what all machines of the pool offer together at its largest."""

    def times(each: Quantity) -> str:
        return str(replace(each, value=each.value * pool.nodes.max))

    devices = {name: str(count * pool.nodes.max) for name, count in devices_of(pool, gpu).items()}
    return {"cpu": times(pool.machine.cpu), "memory": times(pool.machine.memory), **devices}


def countable(pool: NodePool, gpu: Gpu) -> str:
    """Return the resource by which an autoscaler can count the pool's machines.

    Accelerators, where each is offered whole. Shared ones are one number before the device plugin runs on a node and
    another after it, so CPUs count there.
    """
    devices = devices_of(pool, gpu)
    return next(iter(devices)) if devices and sharing_of(pool, gpu) is None else "cpu"


def capacity_types(pool: NodePool) -> list[str]:
    """Return how the machines may be bought, the preferred way first."""
    return ["spot", "on-demand"] if pool.capacity_type == "spot-or-on-demand" else [pool.capacity_type]


def taints(pool: NodePool) -> list[dict[str, Any]]:
    """Return the taints as a node has them."""
    return [taint.model_dump() for taint in pool.taints]
