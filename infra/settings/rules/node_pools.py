"""Rules about what whoever makes the nodes can do of what a pool asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.settings.models.autoscaler import Aws, GkeComputeClass, Karpenter, NoAutoscaler
from infra.settings.models.node_pools import Disruption
from infra.settings.rules.rule import Violation, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.models.autoscaler import Autoscaler
    from infra.settings.models.node_pools import NodePool
    from infra.settings.models.settings import Settings
    from infra.settings.quantity import Quantity

POOLS = ("cluster", "nodePools")
AUTOSCALER = ("cluster", "autoscaler")

_SPOT = {"capacityType: spot", "capacityType: spot-or-on-demand"}
_DISRUPTION = {"disruption", "disruption.budgets", "disruption.expireAfter", "disruption.gracePeriod"}
_KARPENTER = {*_SPOT, *_DISRUPTION, "zone", "nvlink"}

OFFERS: dict[str, tuple[str, frozenset[str]]] = {
    "aws": (
        "Karpenter on AWS",
        frozenset(_KARPENTER | {"disk", "disk.type", "disk.iops", "disk.throughput", "group", "efa"}),
    ),
    "azure": ("Karpenter on AKS", frozenset(_KARPENTER | {"disk", "rdma"})),
    "kwok": ("the sandbox's Karpenter", frozenset(_KARPENTER | {"disk", "rack", "efa", "rdma"})),
    "gke-compute-class": (
        "a GKE ComputeClass",
        frozenset(_SPOT | {"disk", "disk.type", "disruption", "disruption.gracePeriod", "zone", "group", "nvlink"}),
    ),
    "cluster-api": (
        "Cluster API",
        frozenset({"disruption", "disruption.gracePeriod", "zone", "rack", "rdma", "nvlink", "nodes.min"}),
    ),
    "none": ("a cluster without an autoscaler", frozenset({"capacityType: spot", "nodes.min"})),
}
"""What each back end can do of what a pool may ask for, and what the back end is called."""


GIB = 1024**3
DISKS = {"azure": (30, 2048)}
"""Smallest and largest disk a node may start from, in GiB, where the back end says so in its schema."""


@dataclass(frozen=True)
class Wish:
    """One thing that a pool asks for: what it is in `OFFERS`, and the key that asks for it."""

    needs: str
    path: tuple[str, ...]


def back_end(autoscaler: Autoscaler) -> str:
    """Return what the back end is called in `OFFERS`."""
    return autoscaler.provider.cloud if isinstance(autoscaler, Karpenter) else autoscaler.kind


def wishes(pool: NodePool) -> Iterator[Wish]:
    """Yield everything that a pool asks for beyond machines of a type in some zones."""
    if pool.capacity_type != "on-demand":
        yield Wish(f"capacityType: {pool.capacity_type}", ("capacityType",))
    if pool.nodes.min:
        yield Wish("nodes.min", ("nodes", "min"))
    if pool.disk:
        yield Wish("disk", ("disk",))
        for key in ("type", "iops", "throughput"):
            if getattr(pool.disk, key) is not None:
                yield Wish(f"disk.{key}", ("disk", key))
    if pool.placement:
        yield Wish(pool.placement.within, ("placement", "within"))
    if pool.fabric:
        yield Wish(pool.fabric.kind, ("fabric", "kind"))
    if pool.disruption != Disruption():
        yield Wish("disruption", ("disruption",))
        for key, alias in (("budgets", "budgets"), ("expire_after", "expireAfter"), ("grace_period", "gracePeriod")):
            if getattr(pool.disruption, key):
                yield Wish(f"disruption.{alias}", ("disruption", alias))


@rule("cluster")
def pools_ask_for_what_there_is(settings: Settings) -> Iterator[Violation]:
    """Refuse what the pool's back end cannot do: it would be ignored, and nobody would know."""
    kind = back_end(settings.cluster.autoscaler)
    name, offers = OFFERS[kind]
    for number, pool in enumerate(settings.cluster.node_pools):
        made_elsewhere = pool.purpose == "system"
        for wish in wishes(pool):
            path = (*POOLS, number, *wish.path)
            if made_elsewhere and wish.path[0] not in {"nodes", "capacityType"}:
                what = "system nodes are made with the cluster, so this would have no effect"
                yield Violation(path, what, "Remove it, and set it where the cluster is made")
            elif not made_elsewhere and wish.needs not in offers and not _said_elsewhere(kind, wish):
                yield Violation(path, f"{name} does not offer {wish.needs}", _remedy(wish, offers))


@rule("cluster")
def pools_in_one_zone_name_it(settings: Settings) -> Iterator[Violation]:
    """Refuse a pool in one zone that spans several: who makes the nodes chooses a zone for each."""
    cluster = settings.cluster
    for number, pool in enumerate(cluster.node_pools):
        zones = pool.zones or cluster.zones
        if pool.placement and pool.placement.within == "zone" and len(zones) > 1:
            what = f"the pool spans {', '.join(zones)}"
            yield Violation((*POOLS, number, "placement", "within"), what, "Write one zone as the pool's zones")


@rule("cluster")
def disks_come_in_gibibytes(settings: Settings) -> Iterator[Violation]:
    """Refuse a disk that is no whole number of gibibytes, which is how clouds sell them."""
    for number, pool in enumerate(settings.cluster.node_pools):
        if pool.disk and pool.disk.size.value % GIB:
            what = f"{pool.disk.size} is no whole number of gibibytes"
            remedy = f"Write {int(pool.disk.size.value // GIB) + 1}Gi"
            yield Violation((*POOLS, number, "disk", "size"), what, remedy)


@rule("cluster")
def disks_are_of_a_size_that_is_sold(settings: Settings) -> Iterator[Violation]:
    """Refuse a disk smaller or larger than the back end takes: the API server would refuse the pool."""
    smallest, largest = DISKS.get(back_end(settings.cluster.autoscaler), (0, 0))
    for number, pool in enumerate(settings.cluster.node_pools):
        if largest and pool.disk and not smallest * GIB <= pool.disk.size.value <= largest * GIB:
            what = f"{pool.disk.size} is not between {smallest}Gi and {largest}Gi"
            yield Violation((*POOLS, number, "disk", "size"), what, f"Write {smallest}Gi to {largest}Gi")


@rule("cluster")
def machines_of_a_type_are_alike(settings: Settings) -> Iterator[Violation]:
    """Refuse two descriptions of one type of machine: one of them is wrong."""
    seen: dict[str, NodePool] = {}
    for number, pool in enumerate(settings.cluster.node_pools):
        if bool(pool.machine.gpus) != (pool.purpose == "gpu"):
            continue
        first = seen.setdefault(pool.instance_type, pool)
        if first.machine != pool.machine:
            what = f"the pool {first.name} describes {pool.instance_type} differently"
            yield Violation((*POOLS, number, "machine"), what, "Describe them alike")


@rule("cluster")
def budgets_have_a_beginning_and_an_end(settings: Settings) -> Iterator[Violation]:
    """Refuse a budget's schedule without a duration and the reverse, as Karpenter does."""
    for number, pool in enumerate(settings.cluster.node_pools):
        for index, budget in enumerate(pool.disruption.budgets):
            if (budget.schedule is None) != (budget.duration is None):
                given, other = ("schedule", "duration") if budget.duration is None else ("duration", "schedule")
                path = (*POOLS, number, "disruption", "budgets", index, given)
                yield Violation(path, f"is given without {other}", f"Add {other}, or remove {given}")


@rule("cluster")
def karpenter_finds_its_network(settings: Settings) -> Iterator[Violation]:
    """Refuse to choose subnets or security groups by no tag at all: that would be none, or every one."""
    autoscaler = settings.cluster.autoscaler
    if not isinstance(autoscaler, Karpenter) or not isinstance(autoscaler.provider, Aws):
        return
    for key, tags in (
        ("subnetTags", autoscaler.provider.subnet_tags),
        ("securityGroupTags", autoscaler.provider.security_group_tags),
    ):
        if not tags:
            remedy = (
                f"Write the tag that they carry, such as karpenter.sh/discovery: {autoscaler.provider.cluster_name}"
            )
            yield Violation((*AUTOSCALER, "provider", key), "the map is empty", remedy)


@rule("cluster")
def the_autoscaler_fits_the_system_pool(settings: Settings) -> Iterator[Violation]:
    """Refuse an autoscaler that the system nodes cannot hold: it runs on no others."""
    autoscaler = settings.cluster.autoscaler
    system = [pool for pool in settings.cluster.node_pools if pool.purpose == "system"]
    if not system or isinstance(autoscaler, NoAutoscaler | GkeComputeClass):
        return
    nodes = sum(pool.nodes.max for pool in system)
    if autoscaler.replicas > nodes:
        what = f"{autoscaler.replicas} replicas would share at most {nodes} system nodes"
        yield Violation((*AUTOSCALER, "replicas"), what, f"Write {nodes} or less, or raise the pool's max")
    for key in ("cpu", "memory"):
        request: Quantity = getattr(autoscaler.resources.requests, key)
        largest: Quantity = max(getattr(each.machine, key) for each in system)
        if request > largest:
            what = f"{request} fits on no system node: the largest has {largest}"
            path = (*AUTOSCALER, "resources", "requests", key)
            yield Violation(path, what, "Write less, or choose larger machines")


def _said_elsewhere(kind: str, wish: Wish) -> bool:
    """Return whether another rule, with a better explanation, refuses this."""
    return wish.needs == "nodes.min" and kind in {"aws", "azure", "kwok"}


def _remedy(wish: Wish, offers: frozenset[str]) -> str:
    if wish.needs.startswith("capacityType"):
        return "Write on-demand"
    if wish.needs == "nodes.min":
        return "Write 0"
    known = sorted(offers & {"zone", "group", "rack"} if wish.path[0] == "placement" else set[str]())
    return f"Remove it, or write {' or '.join(known)}" if known else "Remove it"
