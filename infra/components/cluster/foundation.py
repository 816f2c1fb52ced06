"""What every workload of the platform relies on in the cluster."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s

from infra.core import names, priorities
from infra.core.component import Component
from infra.core.priorities import Priority

PART_OF = "cluster"


class Foundation(Component):
    """Owns the PriorityClasses of the platform's workloads and of what teams run.

    None is the cluster's default: a cluster can have only one, and its pods are not all Flotilla's to rank.

    Attributes:
        ready: what workloads must wait for: a pod that names a missing PriorityClass is refused.
    """

    group = "cluster"

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self.ready: list[pulumi.Resource] = [self._class(priority) for priority in priorities.ALL]
        self.register_outputs({})

    def _class(self, priority: Priority) -> k8s.scheduling.v1.PriorityClass:
        return k8s.scheduling.v1.PriorityClass(
            priority.name,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=priority.name, labels=names.labels(priority.name, part_of=PART_OF)
            ),
            value=priority.value,
            global_default=False,
            preemption_policy="PreemptLowerPriority" if priority.preempts else "Never",
            description=priority.description,
            opts=self.child(),
        )
