"""Node pools that Karpenter grows and shrinks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from infra import crd_sources
from infra.core import names
from infra.core.component import Component
from infra.core.crds.bundle import CrdBundle

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from infra.settings.models.cluster import Karpenter, NodePool
    from infra.settings.quantity import Quantity

PART_OF = "cluster"
GPU = "nvidia.com/gpu"


@dataclass(frozen=True, kw_only=True)
class NodePoolsArgs:
    """What the pools are declared from.

    Args:
        pools: the cluster's pools; those with `purpose: system` are not Karpenter's.
        karpenter: the node class they refer to.
        zones: the cluster's zones.
        context: the cluster's kubeconfig context, for the schemas applied outside the engine.
    """

    pools: Sequence[NodePool]
    karpenter: Karpenter
    zones: Sequence[str]
    context: pulumi.Input[str]


class NodePools(Component):
    """Owns one NodePool for each cpu and gpu pool, and their schemas.

    The system pool, which Karpenter itself runs on, and the node class with its images and networks stay with
    whoever made the cluster.

    Source: https://github.com/kubernetes-sigs/karpenter, `pkg/apis/crds`.
    """

    group = "cluster"

    def __init__(self, name: str, args: NodePoolsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        crds = CrdBundle(f"{name}-crds", crd_sources.KARPENTER, context=args.context, opts=self.child())
        for pool in args.pools:
            if pool.purpose != "system":
                CustomResource(
                    f"{name}-{pool.name}",
                    api_version="karpenter.sh/v1",
                    kind="NodePool",
                    metadata=ObjectMetaArgs(name=pool.name, labels=names.labels(pool.name, part_of=PART_OF)),
                    spec=_spec(pool, args.karpenter, pool.zones or args.zones),
                    opts=self.child(depends_on=[crds]),
                )
        self.register_outputs({})


def _spec(pool: NodePool, karpenter: Karpenter, zones: Sequence[str]) -> dict[str, Any]:
    node_class = karpenter.node_class
    return {
        "template": {
            "metadata": {"labels": {names.NODE_POOL: pool.name, names.NODE_PURPOSE: pool.purpose, **pool.labels}},
            "spec": {
                "nodeClassRef": {
                    "group": node_class.group,
                    "kind": node_class.kind,
                    "name": node_class.name,
                },
                "requirements": [
                    _requirement("topology.kubernetes.io/zone", *zones),
                    _requirement("node.kubernetes.io/instance-type", pool.instance_type),
                    _requirement("karpenter.sh/capacity-type", pool.capacity_type),
                ],
                "taints": [taint.model_dump() for taint in pool.taints],
                "expireAfter": "720h",
            },
        },
        "limits": _limits(pool),
        "disruption": _disruption(pool),
    }


def _requirement(key: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}


def _limits(pool: NodePool) -> dict[str, str]:
    """Bound the pool by what its largest number of nodes offers."""

    def whole(each: Quantity) -> str:
        return str(replace(each, value=each.value * pool.nodes.max))

    limits = {"cpu": whole(pool.machine.cpu), "memory": whole(pool.machine.memory)}
    return limits | ({GPU: str(pool.machine.gpus * pool.nodes.max)} if pool.machine.gpus else {})


def _disruption(pool: NodePool) -> dict[str, Any]:
    """Remove GPU nodes only once they are empty: moving a training pod loses its work since the last checkpoint."""
    if pool.purpose == "gpu":
        return {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "5m", "budgets": [{"nodes": "1"}]}
    return {
        "consolidationPolicy": "WhenEmptyOrUnderutilized",
        "consolidateAfter": "5m",
        "budgets": [{"nodes": "10%"}],
    }
