"""Volcano: a batch scheduler that gives all pods of a job a place, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi
import yaml

from infra import chart_sources
from infra.core import names, placement, traffic
from infra.core.chart import Chart, ChartArgs
from infra.core.component import Component
from infra.core.disruption import disruption_budget
from infra.core.namespace import Namespace
from infra.core.parts import metrics

if TYPE_CHECKING:
    from infra.settings.models.gangs import Volcano

NAME = "volcano"
NAMESPACE = "volcano-system"
PART_OF = "cluster"
PARTS = ("scheduler", "controller")


class VolcanoScheduler(Component):
    """Owns Volcano's release, and what its chart lacks: budgets against disruption, and a closed network.

    Its webhooks are left out. They check Volcano's own jobs and queues, which nobody here makes, and their chart has a
    Job that no review sees write their certificate. Teams share its queue `default`: quotas are Kueue's, or
    ResourceQuotas'.

    Attributes:
        ready: what must be there before jobs' pods name the scheduler.

    Source: https://github.com/volcano-sh/volcano, tag v1.15.1, `installer/helm/chart/volcano`,
    `pkg/scheduler/actions/allocate` and `pkg/scheduler/api/job_info.go`.
    """

    group = "cluster"

    def __init__(self, name: str, settings: Volcano, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        namespace = Namespace(NAMESPACE, part_of=PART_OF, opts=self.child())
        for part in PARTS:
            self._guard(f"{NAME}-{part}", namespace.name)
        chart = Chart(
            NAME,
            ChartArgs(
                source=chart_sources.VOLCANO, namespace=namespace.name, part_of=PART_OF, values=_values(settings)
            ),
            opts=self.child(),
        )
        self.ready: list[pulumi.Resource] = chart.ready
        self.register_outputs({})

    def _guard(self, name: str, namespace: pulumi.Input[str]) -> None:
        labels = names.labels(name, part_of=PART_OF)
        traffic.network_policy(name, namespace, [metrics(8080)], labels, self.child())
        disruption_budget(name, namespace, labels, self.child())


def _values(settings: Volcano) -> dict[str, Any]:
    custom: dict[str, Any] = {
        "admission_enable": False,
        "leader_elect_enable": True,
        "default_ns": {names.NODE_PURPOSE: "system"},
        "default_sc": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "default_csc": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "scheduler_config_override": yaml.safe_dump(configuration(), sort_keys=False),
    }
    for part in PARTS:
        selector = names.selector(f"{NAME}-{part}")
        custom |= {
            f"{part}_replicas": settings.replicas,
            f"{part}_resources": settings.resources.as_manifest(),
            f"{part}_podLabels": selector,
            f"{part}_affinity": {"podAntiAffinity": placement.apart(selector)},
        }
    return {"basic": {"image_pull_policy": "IfNotPresent"}, "custom": custom}


def configuration() -> dict[str, Any]:
    """Return what the scheduler does in each round.

    Not the chart's `enqueue` with `overcommit`: they hold a job's pods back until nodes that exist have room for all of
    them, so that no autoscaler would ever see the pods of a pool at zero.
    """
    return {
        "actions": "allocate, preempt, backfill",
        "tiers": [
            {"plugins": [{"name": "priority"}, {"name": "gang", "enablePreemptable": False}, {"name": "conformance"}]},
            {"plugins": [{"name": "predicates"}, {"name": "nodeorder"}, {"name": "binpack"}]},
        ],
    }
