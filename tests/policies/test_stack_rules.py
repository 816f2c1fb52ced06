"""Every rule across objects, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from policies.manifest import UNKNOWN
from policies.rules.disruption import DISRUPTION_BUDGET, DRAIN
from policies.rules.replicas import REPLICAS_DECLARED
from tests.policies.objects import REMOVED, autoscaler, budget, changed, daemon_set, deployment

if TYPE_CHECKING:
    from policies.manifest import Manifest
    from policies.rule import StackRule

OPEN = changed(deployment(), spec__replicas=REMOVED)
THREE = changed(deployment(), spec__replicas=3)
ELSEWHERE = changed(budget(), metadata__namespace="istio-system")
OTHER_LABELS = changed(budget(), spec__selector={"matchLabels": {"app.kubernetes.io/name": "other"}})

REFUSED: list[tuple[StackRule, list[Manifest], str]] = [
    (REPLICAS_DECLARED, [OPEN], "declares no number of replicas"),
    (REPLICAS_DECLARED, [OPEN, autoscaler(target="other")], "declares no number of replicas"),
    (
        REPLICAS_DECLARED,
        [OPEN, changed(autoscaler(), metadata__namespace="istio-system")],
        "declares no number of replicas",
    ),
    (DISRUPTION_BUDGET, [deployment()], "no PodDisruptionBudget selects its pods"),
    (DISRUPTION_BUDGET, [deployment(), ELSEWHERE], "no PodDisruptionBudget selects its pods"),
    (DISRUPTION_BUDGET, [deployment(), OTHER_LABELS], "no PodDisruptionBudget selects its pods"),
    (DISRUPTION_BUDGET, [deployment(), budget(selector=None)], "no PodDisruptionBudget selects its pods"),
    (DRAIN, [deployment(), budget(), budget("again")], "2 PodDisruptionBudgets select its pods (web, again)"),
    (DRAIN, [deployment(), budget(maxUnavailable=0)], "lets no pod of web be evicted: maxUnavailable 0 of 2"),
    (DRAIN, [deployment(), budget(maxUnavailable="0%")], "maxUnavailable 0% of 2 replicas"),
    (DRAIN, [deployment(), budget(minAvailable=2)], "minAvailable 2 of 2 replicas"),
    (DRAIN, [deployment(), budget(minAvailable="51%")], "minAvailable 51% of 2 replicas"),
    (DRAIN, [OPEN, autoscaler(2), budget(minAvailable=2)], "minAvailable 2 of 2 replicas"),
    (
        DRAIN,
        [changed(deployment(), spec__replicas=1), budget(minAvailable=1)],
        "minAvailable 1 of 1 replicas",
    ),
    (
        DRAIN,
        [changed(deployment(), spec__replicas=1), changed(budget(), spec__maxUnavailable=REMOVED)],
        "minAvailable 1 of 1 replicas",
    ),
]

ACCEPTED: list[tuple[StackRule, list[Manifest]]] = [
    (REPLICAS_DECLARED, [deployment()]),
    (REPLICAS_DECLARED, [changed(deployment(), spec__replicas=UNKNOWN)]),
    (REPLICAS_DECLARED, [OPEN, autoscaler()]),
    (REPLICAS_DECLARED, [OPEN, changed(autoscaler(), spec__scaleTargetRef__name=UNKNOWN)]),
    (REPLICAS_DECLARED, [daemon_set()]),
    (DISRUPTION_BUDGET, [deployment(), budget()]),
    (DISRUPTION_BUDGET, [deployment(), changed(budget(), spec__selector=UNKNOWN)]),
    (DISRUPTION_BUDGET, [deployment(), changed(budget(), metadata__namespace=UNKNOWN)]),
    (DISRUPTION_BUDGET, [changed(deployment(), spec__template__metadata__labels=UNKNOWN), budget()]),
    (DISRUPTION_BUDGET, [deployment(), budget(selector={})]),
    (
        DISRUPTION_BUDGET,
        [
            deployment(),
            budget(selector={"matchExpressions": [{"key": "app.kubernetes.io/name", "operator": "Exists"}]}),
        ],
    ),
    (DISRUPTION_BUDGET, [daemon_set()]),
    (DRAIN, [deployment(), budget()]),
    (DRAIN, [deployment(), ELSEWHERE, budget()]),
    (DRAIN, [deployment(), budget(maxUnavailable="1%")]),
    (DRAIN, [deployment(), budget(minAvailable="50%")]),
    (DRAIN, [THREE, budget(minAvailable=2)]),
    (DRAIN, [deployment(), changed(deployment("api"), spec__replicas=2), budget(minAvailable=3)]),
    (DRAIN, [deployment(), budget(minAvailable=UNKNOWN)]),
    (DRAIN, [deployment(), budget(maxUnavailable="most")]),
    (DRAIN, [changed(deployment(), spec__replicas=UNKNOWN), budget(minAvailable=2)]),
    (DRAIN, [OPEN, autoscaler(UNKNOWN), budget(minAvailable=2)]),
    (DRAIN, [changed(deployment(), spec__replicas=1), budget(maxUnavailable=1)]),
]


@pytest.mark.parametrize(("rule", "manifests", "fault"), REFUSED, ids=lambda value: getattr(value, "name", None))
def test_stack_rule_refuses(rule: StackRule, manifests: list[Manifest], fault: str) -> None:
    findings = rule.check(manifests)

    assert [fault in finding.fault for finding in findings] == [True], findings


@pytest.mark.parametrize(("rule", "manifests"), ACCEPTED, ids=lambda value: getattr(value, "name", None))
def test_stack_rule_accepts(rule: StackRule, manifests: list[Manifest]) -> None:
    assert rule.check(manifests) == []


def test_drain_blames_the_budget_and_coverage_blames_the_workload() -> None:
    workload, strict = deployment(), budget(maxUnavailable=0)

    assert [finding.subject for finding in DRAIN.check([workload, strict])] == [strict]
    assert [finding.subject for finding in DISRUPTION_BUDGET.check([workload])] == [workload]
