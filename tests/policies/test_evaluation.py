"""The rules applied together: exemptions, messages, and a platform that breaks none."""

from __future__ import annotations

import pytest

import policies
from policies.exemptions import EXEMPTIONS
from policies.rules import RULES, STACK_RULES
from tests.policies.objects import (
    REMOVED,
    autoscaler,
    budget,
    changed,
    config_map,
    cron_job,
    daemon_set,
    deployment,
    role,
    with_pod,
)

REASON = "a second replica would mint access keys twice"


def test_check_finds_nothing_when_every_rule_is_met() -> None:
    scaled = changed(deployment(), spec__replicas=REMOVED)

    assert policies.check([scaled, autoscaler(3), budget(), daemon_set(), cron_job(), role()]) == []


def test_check_reports_every_violation_at_once_with_object_fault_and_remedy() -> None:
    violations = policies.check([changed(deployment(), spec__replicas=1), role(verbs=["*"])])

    assert [violation.rule for violation in violations] == ["replicas", "rbac-wildcards", "disruption-budget"]
    assert str(violations[0]).startswith("Deployment kubeflow/web: declares 1 replica [replicas]. Declare at least 2")


def test_check_looks_inside_lists() -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [config_map(password="hunter22")]}

    assert [violation.subject for violation in policies.check([listed])] == ["ConfigMap kubeflow/settings"]


def test_check_ignores_kinds_of_other_groups() -> None:
    assert policies.check([changed(deployment(), apiVersion="example.com/v1", spec__replicas=1)]) == []


@pytest.mark.parametrize("reason", ["", "because", "no time"])
def test_exemption_without_a_reason_waives_nothing(reason: str) -> None:
    single = changed(deployment(singleton_reason=reason), spec__replicas=1)

    rules = [violation.rule for violation in policies.check([single, budget()])]

    assert rules == ["replicas", "exemption-reasons"]


def test_exemption_with_a_reason_waives_its_rules_and_is_reported() -> None:
    single = changed(deployment(singleton_reason=REASON), spec__replicas=1)

    assert policies.check([single]) == []
    assert policies.waivers([single]) == [
        policies.Waiver(
            subject="Deployment kubeflow/web",
            annotation="flotilla.dev/singleton-reason",
            reason=REASON,
            rules=("replicas", "disruption-budget"),
        )
    ]


def test_exemption_that_is_not_needed_is_reported_without_rules() -> None:
    waivers = policies.waivers([deployment(privileged_reason="it opens the devices of the node"), budget()])

    assert [waiver.rules for waiver in waivers] == [()]


def test_exemption_does_not_waive_other_rules() -> None:
    single = with_pod(hostNetwork=True)
    single["metadata"]["annotations"]["flotilla.dev/singleton-reason"] = REASON

    assert [violation.rule for violation in policies.check([single, budget()])] == ["pod-security"]


def test_singleton_must_still_let_its_node_drain() -> None:
    single = changed(deployment(singleton_reason=REASON), spec__replicas=1)

    assert [violation.rule for violation in policies.check([single, budget(minAvailable=1)])] == ["drain"]


def test_every_rule_is_described_and_named_once() -> None:
    rules = [*RULES, *STACK_RULES]

    assert len({rule.name for rule in rules}) == len(rules)
    assert all(rule.title.endswith(".") and rule.why.endswith(".") for rule in rules)
    assert not any(rule.remedy.endswith(".") for rule in rules)


def test_every_exemption_waives_a_rule() -> None:
    waived = {exemption for rule in (*RULES, *STACK_RULES) for exemption in rule.exemptions}

    assert waived == set(EXEMPTIONS)
