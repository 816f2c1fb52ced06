"""The adapter: what the engine sends reaches the rules, and what the rules say reaches the engine."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyCustomTimeouts,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_NUMBER_VALUE, UNKNOWN_OBJECT_VALUE, unknown_checking_proxy

from policies.manifest import SECRET_OUTPUTS, UNKNOWN, dig
from policies.pack import manifest_of, policies
from policies.rules import RULES, STACK_RULES
from tests.policies.objects import Object, autoscaler, budget, changed, deployment, with_pod

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
BUDGET = "kubernetes:policy/v1:PodDisruptionBudget"
AUTOSCALER = "kubernetes:autoscaling/v2:HorizontalPodAutoscaler"

Reports = list[tuple[str, str, str | None]]


def _options(secret_outputs: list[str]) -> PolicyResourceOptions:
    return PolicyResourceOptions(
        protect=False,
        ignore_changes=[],
        delete_before_replace=None,
        aliases=[],
        custom_timeouts=PolicyCustomTimeouts(0, 0, 0),
        additional_secret_outputs=secret_outputs,
    )


class Engine:
    """Calls the pack as the engine does: each resource with its inputs, then all with their outputs."""

    def __init__(self) -> None:
        self.policies = policies()
        self.reports: Reports = []

    def analyze(self, token: str, props: Object, urn: str = "urn:web") -> None:
        for policy in self.policies:
            if isinstance(policy, ResourceValidationPolicy):
                proxy = unknown_checking_proxy(props)
                args = ResourceValidationArgs(token, proxy, urn, "web", _options([]), None)
                policy.validate(args, self._reporter(policy))

    def analyze_stack(self, *resources: tuple[str, Object, str]) -> None:
        made = [
            PolicyResource(token, unknown_checking_proxy(props), urn, "web", _options([]), None, None, [], {})
            for token, props, urn in resources
        ]
        for policy in self.policies:
            if isinstance(policy, StackValidationPolicy):
                policy.validate(StackValidationArgs(made), self._reporter(policy))

    def _reporter(self, policy: Policy) -> Any:
        def report(message: str, urn: str | None = None) -> None:
            self.reports.append((policy.name, message, urn))

        return report


@pytest.fixture
def engine() -> Engine:
    return Engine()


def test_every_rule_is_a_mandatory_policy_with_its_remedy() -> None:
    pack = {policy.name: policy for policy in policies()}

    for rule in (*RULES, *STACK_RULES):
        policy = pack.pop(rule.name)
        assert policy.enforcement_level is EnforcementLevel.MANDATORY
        assert policy.remediation_steps == rule.remedy
    assert [(name, policy.enforcement_level) for name, policy in pack.items()] == [
        ("exemptions", EnforcementLevel.ADVISORY)
    ]


def test_resource_violation_names_object_fault_and_remedy(engine: Engine) -> None:
    engine.analyze(DEPLOYMENT, changed(deployment(), spec__replicas=1.0))

    [(policy, message, urn)] = engine.reports
    assert (policy, urn) == ("replicas", "urn:web")
    assert message.startswith("Deployment kubeflow/web: declares 1 replica. Declare at least 2 replicas, or")


def test_resource_that_meets_the_rules_reports_nothing(engine: Engine) -> None:
    engine.analyze(DEPLOYMENT, deployment())

    assert engine.reports == []


def test_exemption_is_reported_as_advice(engine: Engine) -> None:
    single = changed(deployment(singleton_reason="two would mint keys twice"), spec__replicas=1)

    engine.analyze(DEPLOYMENT, single)

    assert engine.reports == [
        (
            "exemptions",
            "Deployment kubeflow/web is exempt by flotilla.dev/singleton-reason: two would mint keys twice",
            "urn:web",
        )
    ]


def test_unknown_value_hides_no_other_fault(engine: Engine) -> None:
    props = changed(with_pod(hostNetwork=True), spec__replicas=UNKNOWN_NUMBER_VALUE)

    engine.analyze(DEPLOYMENT, props)

    assert [policy for policy, _, _ in engine.reports] == ["pod-security"]


@pytest.mark.parametrize("path", ["spec", "metadata", "spec__template", "spec__template__spec__containers"])
def test_unknown_value_is_no_violation(engine: Engine, path: str) -> None:
    props = changed(deployment(), **{path: UNKNOWN_OBJECT_VALUE})

    engine.analyze(DEPLOYMENT, props)
    engine.analyze_stack((DEPLOYMENT, props, "urn:web"), (BUDGET, budget(), "urn:budget"))

    assert engine.reports == []


def test_stack_violation_names_the_resource(engine: Engine) -> None:
    engine.analyze_stack((DEPLOYMENT, deployment(), "urn:web"))

    assert [(policy, urn) for policy, _, urn in engine.reports] == [("disruption-budget", "urn:web")]


def test_stack_rules_judge_what_is_declared_rather_than_defaults_of_the_cluster(engine: Engine) -> None:
    declared = deployment()
    del declared["spec"]["replicas"]
    engine.analyze(DEPLOYMENT, declared)
    engine.analyze(BUDGET, budget(), "urn:budget")

    engine.analyze_stack(
        (DEPLOYMENT, changed(declared, spec__replicas=1.0), "urn:web"),
        (BUDGET, {"spec": UNKNOWN_OBJECT_VALUE}, "urn:budget"),
    )

    assert [(policy, urn) for policy, _, urn in engine.reports] == [("replicas-declared", "urn:web")]


def test_stack_rules_judge_outputs_of_resources_that_were_not_declared_in_this_run(engine: Engine) -> None:
    engine.analyze_stack(
        (DEPLOYMENT, deployment(), "urn:web"),
        (AUTOSCALER, autoscaler(), "urn:scaler"),
        (BUDGET, budget(maxUnavailable=0.0), "urn:budget"),
    )

    assert [(policy, urn) for policy, _, urn in engine.reports] == [("drain", "urn:budget")]


@pytest.mark.parametrize(
    "token",
    ["aws:s3/bucket:Bucket", "pulumi:providers:kubernetes", "flotilla:core:Workload", DEPLOYMENT + "Patch"],
)
def test_manifest_of_other_resources_is_none(token: str) -> None:
    assert manifest_of(token, {"kind": "Deployment"}, []) is None


def test_manifest_of_resource_without_kind_takes_it_from_the_token() -> None:
    assert manifest_of("kubernetes:core/v1:Pod", {"spec": {}}, ["data"]) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {},
        SECRET_OUTPUTS: ["data"],
    }


def test_manifest_of_numbers_and_unknowns_are_plain() -> None:
    props = unknown_checking_proxy({"data": [2.0, 2.5, UNKNOWN_NUMBER_VALUE, True, None, {"a": "b"}]})

    manifest = manifest_of("kubernetes:core/v1:ConfigMap", props, [])

    assert repr(dig(manifest, "data")) == repr([2, 2.5, UNKNOWN, True, None, {"a": "b"}])
