"""What every back end says of a pool's machines: labels, resources, budgets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from infra.core import names
from infra.settings.devices import NVIDIA, RESOURCES
from infra.settings.models.node_pools import Efa, InOneRack, NvLink, Rdma

if TYPE_CHECKING:
    from infra.settings.models.node_pools import NodePool
    from infra.settings.quantity import Quantity

EFA = "vpc.amazonaws.com/efa"
ZONE = "topology.kubernetes.io/zone"
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


def accelerator(pool: NodePool) -> str:
    """Return the resource that a whole accelerator of the pool's machines is."""
    return RESOURCES[pool.machine.vendor]


def resources(pool: NodePool) -> dict[str, str]:
    """Return what one machine offers to pods, by resource name."""
    machine = pool.machine
    gpus = {accelerator(pool): str(machine.gpus)} if machine.gpus else {}
    return {"cpu": str(machine.cpu), "memory": str(machine.memory), **gpus, **fabric_devices(pool)}


def whole(pool: NodePool) -> dict[str, str]:
    """Return what all machines of the pool offer together at its largest."""

    def times(each: Quantity) -> str:
        return str(replace(each, value=each.value * pool.nodes.max))

    gpus = {accelerator(pool): str(pool.machine.gpus * pool.nodes.max)} if pool.machine.gpus else {}
    return {"cpu": times(pool.machine.cpu), "memory": times(pool.machine.memory), **gpus}


def capacity_types(pool: NodePool) -> list[str]:
    """Return how the machines may be bought, the preferred way first."""
    return ["spot", "on-demand"] if pool.capacity_type == "spot-or-on-demand" else [pool.capacity_type]


def taints(pool: NodePool) -> list[dict[str, Any]]:
    """Return the taints as a node has them."""
    return [taint.model_dump() for taint in pool.taints]
