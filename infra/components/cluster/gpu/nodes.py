"""Which nodes an accelerator's agent runs on, and which taints it accepts there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi_kubernetes as k8s

from infra.core import names
from infra.settings.devices import RESOURCES, of_vendor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.settings.models.node_pools import NodePool

FOUND = (
    (names.NODE_PURPOSE, "gpu"),
    ("nvidia.com/gpu.present", "true"),
    ("feature.node.kubernetes.io/pci-10de.present", "true"),
)
"""Labels of nodes with NVIDIA's GPUs: of our pools, and of others where a device was found."""


def of_pools(pools: Sequence[str]) -> k8s.core.v1.AffinityArgs:
    """Return the affinity to the nodes of these pools."""
    return _required([[_expression(names.NODE_POOL, "In", *pools)]])


def with_nvidia(*, but: Sequence[str]) -> k8s.core.v1.AffinityArgs:
    """Return the affinity to every node with NVIDIA's GPUs but those of these pools."""
    others = [_expression(names.NODE_POOL, "NotIn", *but)] if but else []
    return _required([[_expression(key, "In", value), *others] for key, value in FOUND])


def tolerations(pools: Iterable[NodePool], vendor: str) -> list[k8s.core.v1.TolerationArgs]:
    """Return what tolerates the vendor's own taint and every taint of the vendor's pools, whatever its value."""
    own = (RESOURCES[vendor], "NoSchedule")
    taints = {(taint.key, taint.effect) for pool in of_vendor(pools, vendor) for taint in pool.taints}
    return [
        k8s.core.v1.TolerationArgs(key=key, operator="Exists", effect=effect) for key, effect in sorted({own, *taints})
    ]


def _required(terms: list[list[k8s.core.v1.NodeSelectorRequirementArgs]]) -> k8s.core.v1.AffinityArgs:
    return k8s.core.v1.AffinityArgs(
        node_affinity=k8s.core.v1.NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=k8s.core.v1.NodeSelectorArgs(
                node_selector_terms=[k8s.core.v1.NodeSelectorTermArgs(match_expressions=term) for term in terms]
            )
        )
    )


def _expression(key: str, operator: str, *values: str) -> k8s.core.v1.NodeSelectorRequirementArgs:
    return k8s.core.v1.NodeSelectorRequirementArgs(key=key, operator=operator, values=list(values))
