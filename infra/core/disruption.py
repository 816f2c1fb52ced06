"""How many of a workload's pods may be taken away at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi_kubernetes as k8s

from infra.core import names

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pulumi


def disruption_budget(
    name: str, namespace: pulumi.Input[str], labels: Mapping[str, str], opts: pulumi.ResourceOptions
) -> None:
    """Let one pod at a time be taken away, and those that are not ready always, so that a node can drain.

    Args:
        name: the workload's name, which its pods carry.
        namespace: its namespace.
        labels: labels of the budget.
        opts: options of the budget.
    """
    k8s.policy.v1.PodDisruptionBudget(
        name,
        metadata=k8s.meta.v1.ObjectMetaArgs(name=name, namespace=namespace, labels=dict(labels)),
        spec=k8s.policy.v1.PodDisruptionBudgetSpecArgs(
            max_unavailable=1,
            unhealthy_pod_eviction_policy="AlwaysAllow",
            selector=k8s.meta.v1.LabelSelectorArgs(match_labels=names.selector(name)),
        ),
        opts=opts,
    )
