"""What every workload of the platform relies on in the cluster."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s

from infra.core import names
from infra.core.component import Component

PLATFORM_PRIORITY = 1_000_000
"""Above every team's pods, below Kubernetes' own `system-cluster-critical` (two thousand million)."""


class Foundation(Component):
    """Owns the PriorityClass of the platform's workloads.

    Attributes:
        ready: what workloads must wait for: a pod that names a missing PriorityClass is refused.
    """

    group = "cluster"

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        priority = k8s.scheduling.v1.PriorityClass(
            names.PLATFORM_PRIORITY,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=names.PLATFORM_PRIORITY, labels=names.labels(names.PLATFORM_PRIORITY, part_of="cluster")
            ),
            value=PLATFORM_PRIORITY,
            global_default=False,
            preemption_policy="PreemptLowerPriority",
            description="The platform's own workloads: they go before any team's pods.",
            opts=self.child(),
        )
        self.ready: list[pulumi.Resource] = [priority]
        self.register_outputs({})
