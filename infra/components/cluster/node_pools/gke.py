"""Google's machines, which GKE makes and removes by ComputeClasses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra.components.cluster.node_pools import machines
from infra.settings import gke_accelerators
from infra.settings.interruptions import GOOGLE, GOOGLES_OWN_PODS_SECONDS
from infra.settings.models.node_pools import InOneGroup
from infra.settings.spans import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.settings.models.autoscaler import GkeComputeClass
    from infra.settings.models.node_pools import NodePool

CLASS = ("cloud.google.com/v1", "ComputeClass")
GIB = 1024**3

_SHORT_NOTICE_SECONDS = 30


def compute_class(pool: NodePool, settings: GkeComputeClass, zones: Sequence[str]) -> dict[str, Any]:
    """Return the spec of a pool's ComputeClass: one priority for each way of buying, the preferred one first.

    Source: https://cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass.
    """
    config: dict[str, Any] = {"imageType": settings.image_type, "nodeLabels": machines.labels(pool)}
    if pool.taints:
        config["taints"] = machines.taints(pool)
    threshold = "gpuConsolidationThreshold" if pool.machine.gpus else "consolidationThreshold"
    return {
        "description": f"The pool {pool.name}",
        "priorities": [_priority(pool, zones, spot=kind == "spot") for kind in machines.capacity_types(pool)],
        "nodePoolAutoCreation": {"enabled": True},
        "nodePoolConfig": config,
        "autoscalingPolicy": {
            "consolidationDelayMinutes": max(1, seconds(pool.disruption.after) // 60),
            threshold: 50 if _moves_pods(pool) else 0,
        },
        # A class that is sold out does not take machines of another kind.
        "whenUnsatisfiable": "DoNotScaleUp",
        # Running pods are not moved when spot machines are to be had again.
        "activeMigration": {"optimizeRulePriority": False},
    }


def _priority(pool: NodePool, zones: Sequence[str], *, spot: bool) -> dict[str, Any]:
    priority: dict[str, Any] = {
        "machineType": pool.instance_type,
        "spot": spot,
        "location": {"zones": list(zones)},
    }
    if pool.machine.gpus and pool.machine.accelerator:
        priority["gpu"] = {"type": gke_accelerators.NAMES[pool.machine.accelerator], "count": pool.machine.gpus}
    if pool.disk:
        kind = {"bootDiskType": pool.disk.type} if pool.disk.type else {}
        priority["storage"] = {"bootDiskSize": int(pool.disk.size.value) // GIB, **kind}
    if isinstance(pool.placement, InOneGroup):
        priority["placement"] = {"policyName": pool.placement.name}
    if spot and pool.disruption.grace_period:
        priority["nodeSystemConfig"] = {"kubeletConfig": _shutdown(seconds(pool.disruption.grace_period))}
    return priority


def _shutdown(grace: int) -> dict[str, int]:
    """Return how the kubelet divides the notice: what teams' pods do not need is for GKE's own.

    GKE takes a whole of 30 or 120 seconds.
    Source: https://cloud.google.com/kubernetes-engine/docs/how-to/node-system-config.
    """
    fits = grace <= _SHORT_NOTICE_SECONDS - GOOGLES_OWN_PODS_SECONDS
    whole = _SHORT_NOTICE_SECONDS if fits else GOOGLE.seconds
    return {"shutdownGracePeriodSeconds": whole, "shutdownGracePeriodCriticalPodsSeconds": whole - grace}


def _moves_pods(pool: NodePool) -> bool:
    chosen = pool.disruption.consolidate
    return chosen == "underutilized" or (chosen is None and pool.purpose != "gpu")
