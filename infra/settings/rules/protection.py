"""Rules about machines that are taken back or break: what pods on them are promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.interruptions import is_spot, notice
from infra.settings.models.autoscaler import Aws, Azure, ClusterApi, GkeComputeClass, Karpenter, Kwok, NoAutoscaler
from infra.settings.models.gpu_health import NodeMonitoringAgent, NodeProblemDetector
from infra.settings.rules.node_pools import OFFERS, back_end
from infra.settings.rules.rule import Violation, rule
from infra.settings.spans import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.models.settings import Settings

POOLS = ("cluster", "nodePools")
AUTOSCALER = ("cluster", "autoscaler")
HEALTH = ("cluster", "gpu", "nvidia", "health", "kind")


@rule("cluster")
def spot_machines_outlast_their_pods(settings: Settings) -> Iterator[Violation]:
    """Refuse a grace period that a spot machine's notice cannot hold: pods would be cut off amid their checkpoint."""
    autoscaler = settings.cluster.autoscaler
    given = notice(autoscaler)
    name, _ = OFFERS[back_end(autoscaler)]
    for number, pool in enumerate(settings.cluster.node_pools):
        grace = pool.disruption.grace_period
        if given is None or grace is None or not is_spot(pool) or seconds(grace) <= given.left:
            continue
        path = (*POOLS, number, "disruption", "gracePeriod")
        if given.left:
            what = f"pods of a spot machine have {given.left}s with {name}, not {grace}"
            yield Violation(path, what, f"Write {given.left}s or less, or capacityType: on-demand")
        else:
            what = f"pods of a spot machine have next to no time with {name}, not {grace}"
            yield Violation(path, what, "Remove it and save checkpoints on the way, or write capacityType: on-demand")


@rule("cluster")
def notices_leave_time(settings: Settings) -> Iterator[Violation]:
    """Refuse a simulated notice that is over before a pod hears of it."""
    autoscaler = settings.cluster.autoscaler
    if isinstance(autoscaler, Karpenter) and isinstance(autoscaler.provider, Kwok):
        given = notice(autoscaler)
        if given and not given.left:
            what = f"of {autoscaler.provider.interruption_notice} nothing is left once Karpenter has reacted"
            remedy = f"Write more than {given.lost}s"
            yield Violation((*AUTOSCALER, "provider", "interruptionNotice"), what, remedy)


@rule("cluster")
def google_waits_for_pods_of_spot_machines_only(settings: Settings) -> Iterator[Violation]:
    """Refuse a grace period of machines that Google never takes back: nothing there would keep to it."""
    if not isinstance(settings.cluster.autoscaler, GkeComputeClass):
        return
    for number, pool in enumerate(settings.cluster.node_pools):
        if pool.purpose != "system" and pool.disruption.grace_period and not is_spot(pool):
            what = "a GKE ComputeClass knows it of spot machines only"
            yield Violation((*POOLS, number, "disruption", "gracePeriod"), what, "Remove it")


@rule("cluster")
def who_repairs_can_be_told_to(settings: Settings) -> Iterator[Violation]:
    """Refuse repair where somebody else decides on it, and where machines are not made one by one."""
    autoscaler = settings.cluster.autoscaler
    if isinstance(autoscaler, Karpenter) and autoscaler.node_repair and isinstance(autoscaler.provider, Azure):
        what = "AKS runs Karpenter itself, and decides which nodes it repairs"
        yield Violation((*AUTOSCALER, "nodeRepair"), what, "Remove it")
    if isinstance(autoscaler, ClusterApi) and autoscaler.repair_after and autoscaler.machines == "MachinePool":
        what = "Cluster API replaces machines of a MachineDeployment only"
        yield Violation((*AUTOSCALER, "repairAfter"), what, "Remove it, or write machines: MachineDeployment")


@rule("cluster")
def broken_gpus_are_reported_to_whom_it_concerns(settings: Settings) -> Iterator[Violation]:
    """Refuse a watcher of GPUs that does not run there, or whose reports nobody acts on who is meant to."""
    autoscaler, health = settings.cluster.autoscaler, settings.cluster.gpu.nvidia.health
    provider = autoscaler.provider if isinstance(autoscaler, Karpenter) else None
    on_eks = isinstance(provider, Aws | Kwok) or isinstance(autoscaler, NoAutoscaler)
    if isinstance(health, NodeMonitoringAgent) and not on_eks:
        name, _ = OFFERS[back_end(autoscaler)]
        what = f"EKS' agent does not run on nodes of {name}"
        yield Violation(HEALTH, what, "Write node-problem-detector or none")
    if isinstance(health, NodeProblemDetector) and isinstance(autoscaler, Karpenter) and autoscaler.node_repair:
        what = "Karpenter knows no condition of the node problem detector's, and would not repair what it reports"
        yield Violation(HEALTH, what, "Write node-monitoring-agent, or set cluster.autoscaler.nodeRepair to false")
