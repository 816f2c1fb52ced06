"""Karpenter's NodePools, which are the same whoever sells the machines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from infra.components.cluster.node_pools import machines
from infra.node_labels import ZONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infra.settings.models.gpu import Gpu
    from infra.settings.models.node_pools import Budget, Disruption, NodePool

POOL = ("karpenter.sh/v1", "NodePool")
CAPACITY_TYPE = "karpenter.sh/capacity-type"

POLICIES = {"empty": "WhenEmpty", "underutilized": "WhenEmptyOrUnderutilized"}


@dataclass(frozen=True, kw_only=True)
class NodeClass:
    """The provider's half of a pool: image, network, disk.

    Args:
        api_version: its API group and version.
        kind: its kind.
        spec: its fields.
        pool_annotations: annotations that the provider wants on the pool's nodes.
        limits: what bounds the pool, in the terms that the provider's Karpenter knows.
    """

    api_version: str
    kind: str
    spec: Mapping[str, Any]
    limits: Mapping[str, str]
    pool_annotations: Mapping[str, str] = field(default_factory=dict[str, str])


def node_pool(pool: NodePool, node_class: NodeClass, zones: Sequence[str], grace: str | None) -> dict[str, Any]:
    """Return the spec of a pool's NodePool; its node class carries the pool's name.

    Args:
        pool: the pool.
        node_class: the provider's half.
        zones: the pool's zones. Karpenter buys where there are machines, and leaves out the others.
        grace: how long pods of a node that has to go have to end; None leaves it to them.

    Source: https://github.com/kubernetes-sigs/karpenter, `pkg/apis/crds`, v1.14.1.
    """
    annotations = {**machines.node_annotations(pool), **node_class.pool_annotations}
    metadata: dict[str, Any] = {"labels": machines.labels(pool)}
    disruption = pool.disruption
    return {
        "template": {
            "metadata": metadata | ({"annotations": annotations} if annotations else {}),
            "spec": {
                "nodeClassRef": {
                    "group": node_class.api_version.partition("/")[0],
                    "kind": node_class.kind,
                    "name": pool.name,
                },
                "requirements": [
                    _requirement(ZONE, zones),
                    _requirement(machines.INSTANCE_TYPE, [pool.instance_type]),
                    _requirement(CAPACITY_TYPE, machines.capacity_types(pool)),
                ],
                "taints": machines.taints(pool),
                "expireAfter": disruption.expire_after or ("Never" if pool.purpose == "gpu" else "720h"),
                **({"terminationGracePeriod": grace} if grace else {}),
            },
        },
        "limits": dict(node_class.limits),
        "disruption": _disruption(disruption, gpus=pool.purpose == "gpu", ends_pods=grace is not None),
    }


def bounds(pool: NodePool, gpu: Gpu) -> dict[str, str]:
    """Bound a pool by its number of machines, twice.

    Karpenter compares `nodes` with the machines it has, but forgets those it decides on in the same breath: a burst
    of pods would overshoot. Those it counts by what they offer. GPUs and CPUs of a type are whole and known, whereas
    memory is less than the price list says.
    """
    countable = machines.countable(pool, gpu)
    return {"nodes": str(pool.nodes.max), countable: machines.whole(pool, gpu)[countable]}


def _requirement(key: str, values: Sequence[str]) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}


def _disruption(disruption: Disruption, *, gpus: bool, ends_pods: bool) -> dict[str, Any]:
    policy = disruption.consolidate or ("empty" if gpus else "underutilized")
    usual = _usual_budgets("1" if gpus else "10%", moves_to_fresh_images=not (gpus and ends_pods))
    return {
        "consolidationPolicy": POLICIES[policy],
        "consolidateAfter": disruption.after,
        "budgets": [_budget(each) for each in disruption.budgets] or usual,
    }


def _budget(budget: Budget) -> dict[str, Any]:
    window = {"schedule": budget.schedule, "duration": budget.duration}
    reasons = {"reasons": list(budget.reasons)} if budget.reasons else {}
    return {"nodes": budget.nodes, **reasons, **{key: value for key, value in window.items() if value}}


def _usual_budgets(nodes_in_use: str, *, moves_to_fresh_images: bool) -> list[dict[str, Any]]:
    """Give back empty nodes all at once: they only cost. Go slowly where pods have to move.

    Where a grace period ends pods, Karpenter replaces drifted nodes under pods that ask not to be disrupted. Such nodes
    are given back once they are empty instead, and the next ones have the new image.
    """
    empty = {"nodes": "100%", "reasons": ["Empty"]}
    if moves_to_fresh_images:
        return [empty, {"nodes": nodes_in_use, "reasons": ["Underutilized", "Drifted"]}]
    return [empty, {"nodes": nodes_in_use, "reasons": ["Underutilized"]}, {"nodes": "0", "reasons": ["Drifted"]}]
