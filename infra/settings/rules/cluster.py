"""Rules about zones and node pools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.autoscaler import Karpenter, NoAutoscaler
from infra.settings.rules.rule import Violation, repeated, rule
from infra.settings.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.models.node_pools import NodePool
    from infra.settings.models.settings import Settings

POOLS = ("cluster", "nodePools")
LEAST_SYSTEM_NODES = 2
OWNED_LABELS = (
    "topology.kubernetes.io/",
    "kubernetes.io/",
    "node.kubernetes.io/",
    "karpenter.sh/",
    "nvidia.com/gpu.",
    "flotilla.dev/",
)
"""Prefixes of labels that the cloud, the kubelet, Karpenter, NVIDIA's feature discovery and Flotilla set."""


@rule("cluster")
def zones_are_named_once(settings: Settings) -> Iterator[Violation]:
    """Refuse a zone listed twice: it would get replicas twice, and its loss would take both."""
    for index, zone in repeated(settings.cluster.zones):
        yield Violation(("cluster", "zones", index), f"{zone} is listed twice", "Remove one")


@rule("cluster")
def pools_are_named_once(settings: Settings) -> Iterator[Violation]:
    """Refuse two pools of one name: they would be one object."""
    for index, name in repeated(pool.name for pool in settings.cluster.node_pools):
        yield Violation((*POOLS, index, "name"), f"another pool is called {name}", "Write another name")


@rule("cluster")
def pools_span_zones_of_the_cluster(settings: Settings) -> Iterator[Violation]:
    """Refuse a pool in a zone that the cluster does not list: nothing would be spread over its nodes."""
    known = settings.cluster.zones
    for number, pool in enumerate(settings.cluster.node_pools):
        for index, zone in enumerate(pool.zones or ()):
            if zone not in known:
                remedy = f"{did_you_mean(zone, known)}Write one of {', '.join(known)}, or add it to cluster.zones"
                yield Violation((*POOLS, number, "zones", index), f"{zone} is not a zone of the cluster", remedy)
        for index, zone in repeated(pool.zones or ()):
            yield Violation((*POOLS, number, "zones", index), f"{zone} is listed twice", "Remove one")


@rule("cluster")
def pools_have_room_to_be(settings: Settings) -> Iterator[Violation]:
    """Refuse a pool whose least number of nodes exceeds its largest."""
    for number, pool in enumerate(settings.cluster.node_pools):
        if pool.nodes.min > pool.nodes.max:
            what = f"{pool.nodes.min} is more than the pool's max of {pool.nodes.max}"
            yield Violation((*POOLS, number, "nodes", "min"), what, f"Write {pool.nodes.max} or less, or raise max")


@rule("cluster")
def the_platform_has_nodes_of_its_own(settings: Settings) -> Iterator[Violation]:
    """Refuse fewer than two system nodes: losing one has to leave the platform running."""
    system = [(number, pool) for number, pool in enumerate(settings.cluster.node_pools) if pool.purpose == "system"]
    if not system:
        what = "no pool has purpose: system, so the platform's own workloads have nowhere to run"
        yield Violation(POOLS, what, "Add one of at least 2 nodes")
        return
    nodes = sum(pool.nodes.min for _, pool in system)
    if nodes < LEAST_SYSTEM_NODES:
        number, _ = system[0]
        count = "1 system node at rest is" if nodes == 1 else f"{nodes} system nodes at rest are"
        what = f"{count} not highly available: at least {LEAST_SYSTEM_NODES}"
        yield Violation((*POOLS, number, "nodes", "min"), what, f"Write {LEAST_SYSTEM_NODES} or more")


@rule("cluster")
def the_platform_spans_zones(settings: Settings) -> Iterator[Violation]:
    """Refuse system nodes in a single zone of several: its loss would take the platform."""
    cluster = settings.cluster
    system = [(number, pool) for number, pool in enumerate(cluster.node_pools) if pool.purpose == "system"]
    spanned = {zone for _, pool in system for zone in pool.zones or cluster.zones}
    if system and len(cluster.zones) > 1 and len(spanned) == 1:
        what = f"all system nodes are in {spanned.pop()}, and would be lost with it"
        yield Violation((*POOLS, system[0][0], "zones"), what, "Add a second zone")


@rule("cluster")
def system_nodes_stay(settings: Settings) -> Iterator[Violation]:
    """Refuse spot machines for the platform: those of one type vanish together."""
    for number, pool in enumerate(settings.cluster.node_pools):
        if pool.purpose == "system" and pool.capacity_type != "on-demand":
            what = "spot machines vanish together, and the platform's replicas with them"
            yield Violation((*POOLS, number, "capacityType"), what, "Write on-demand")


@rule("cluster")
def fixed_pools_have_one_size(settings: Settings) -> Iterator[Violation]:
    """Refuse a range of nodes without an autoscaler: nothing would ever add the nodes beyond `min`."""
    if not isinstance(settings.cluster.autoscaler, NoAutoscaler):
        return
    for number, pool in enumerate(settings.cluster.node_pools):
        if pool.nodes.min < pool.nodes.max:
            what = f"no autoscaler would ever add nodes beyond the {pool.nodes.min} of min"
            remedy = f"Write {pool.nodes.min}, or set cluster.autoscaler.kind to karpenter"
            yield Violation((*POOLS, number, "nodes", "max"), what, remedy)


@rule("cluster")
def karpenter_pools_start_empty(settings: Settings) -> Iterator[Violation]:
    """Refuse a minimum in cpu and gpu pools under Karpenter: it makes nodes only for pods that wait."""
    if not isinstance(settings.cluster.autoscaler, Karpenter):
        return
    for number, pool in enumerate(settings.cluster.node_pools):
        if pool.purpose != "system" and pool.nodes.min > 0:
            what = f"Karpenter keeps no minimum, so {pool.nodes.min} would not be there"
            yield Violation((*POOLS, number, "nodes", "min"), what, "Write 0")


@rule("cluster")
def gpu_pools_have_gpus(settings: Settings) -> Iterator[Violation]:
    """Refuse a machine that is not what its pool says: only pods that ask for GPUs go to gpu pools."""
    for number, pool in enumerate(settings.cluster.node_pools):
        yield from _gpus_of(pool, (*POOLS, number))


def _gpus_of(pool: NodePool, path: tuple[str | int, ...]) -> Iterator[Violation]:
    machine = pool.machine
    if pool.purpose == "gpu" and not machine.gpus:
        yield Violation(
            (*path, "machine"), "a gpu pool's machine has no GPUs", "Add gpus, or change the pool's purpose"
        )
    if pool.purpose != "gpu" and machine.gpus:
        what = f"a {pool.purpose} pool's machine has {machine.gpus} GPUs that no pod would get"
        yield Violation((*path, "machine", "gpus"), what, "Write 0, or purpose: gpu")
    if machine.gpus and machine.accelerator is None:
        what = "the machine has GPUs of no known product"
        yield Violation((*path, "machine"), what, "Add accelerator, such as NVIDIA-A100-SXM4-40GB")
    if machine.accelerator is not None and not machine.gpus:
        what = "names GPUs of a machine that has none"
        yield Violation((*path, "machine", "accelerator"), what, "Remove it, or add gpus")


@rule("cluster")
def node_labels_are_ours_to_set(settings: Settings) -> Iterator[Violation]:
    """Refuse labels that the cloud, the kubelet or a controller sets: they would be fought over."""
    for number, pool in enumerate(settings.cluster.node_pools):
        for key in pool.labels:
            if key.startswith(OWNED_LABELS):
                what = "is set by the cloud, the kubelet or a controller"
                yield Violation((*POOLS, number, "labels", key), what, "Remove it")


@rule("cluster")
def taints_are_given_once(settings: Settings) -> Iterator[Violation]:
    """Refuse one taint twice, as Kubernetes does."""
    for number, pool in enumerate(settings.cluster.node_pools):
        for index, name in repeated(f"{taint.key}:{taint.effect}" for taint in pool.taints):
            yield Violation((*POOLS, number, "taints", index), f"{name} is given twice", "Remove one")
