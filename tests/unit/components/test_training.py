"""The training operator: elected leader, validated jobs, schemas first."""

from __future__ import annotations

from typing import Any

import pytest

from infra import crd_sources
from infra.components.ml.training import TrainingOperator, TrainingOperatorArgs
from infra.settings.models.training import TrainingOperatorSettings
from tests.unit.core.parsing import parse
from tests.unit.core.recording import Recording, record

VALUES: dict[str, Any] = {
    "replicas": 3,
    "resources": {"requests": {"cpu": "200m", "memory": "512Mi"}, "limits": {"memory": "2Gi"}},
    "threads": 10,
    "qps": 200,
    "burst": 300,
}


def operator(gang_scheduler: str | None = None, **changes: Any) -> Recording:
    settings = parse(TrainingOperatorSettings, **{**VALUES, **changes})
    args = TrainingOperatorArgs(settings=settings, namespace="kubeflow", context="test", gang_scheduler=gang_scheduler)
    return record(lambda: TrainingOperator("training", args))


def arguments(gang_scheduler: str | None = None, **changes: Any) -> list[str]:
    recording = operator(gang_scheduler, **changes)
    return recording.one("Deployment")["spec"]["template"]["spec"]["containers"][0]["args"]


def test_leader_is_elected_and_may_hold_its_lease() -> None:
    recording = operator()

    assert "--leader-elect" in arguments()
    assert recording.one("Deployment")["spec"]["replicas"] == 3
    assert {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "verbs": ["get", "update", "patch"],
        "resourceNames": ["1ca428e5.training-operator.kubeflow.org"],
    } in recording.one("Role")["rules"]


def test_client_limits_follow_the_settings() -> None:
    assert {"--controller-threads=4", "--kube-api-qps=50", "--kube-api-burst=60"} <= set(
        arguments(threads=4, qps=50, burst=60)
    )


@pytest.mark.parametrize("scheduler", ["volcano", "scheduler-plugins-scheduler"])
def test_gang_scheduler_is_named_where_one_is_set(scheduler: str) -> None:
    assert f"--gang-scheduler-name={scheduler}" in arguments(scheduler)
    assert not any(argument.startswith("--gang-scheduler") for argument in arguments())


def test_webhooks_reach_the_operator_and_fail_closed() -> None:
    recording = operator()
    webhooks = recording.one("ValidatingWebhookConfiguration")["webhooks"]
    service = recording.one("Service")["metadata"]

    assert len(webhooks) == 5
    for webhook in webhooks:
        address = webhook["clientConfig"]["service"]
        assert (address["name"], address["namespace"]) == (service["name"], service["namespace"])
        assert webhook["failurePolicy"] == "Fail"


def test_every_kind_is_permitted_to_operator_and_teams() -> None:
    recording = operator()
    plurals = set(crd_sources.TRAINING_OPERATOR.resources()["kubeflow.org"])

    for role in ("training-operator", "kubeflow-training-edit", "kubeflow-training-view"):
        rules = recording.one("ClusterRole", role)["rules"]
        assert plurals <= {
            kind for rule in rules if rule["apiGroups"] == ["kubeflow.org"] for kind in rule["resources"]
        }


def test_certificate_is_left_to_the_operator() -> None:
    assert not {"data", "stringData"} & operator().one("Secret").keys()


def test_operator_starts_once_schemas_webhooks_and_certificate_are_there() -> None:
    recording = operator()
    (bundle,) = [resource.urn for resource in recording.resources if resource.type.endswith(":CrdBundle")]
    awaited = {bundle, recording.resource("Secret").urn, recording.resource("ValidatingWebhookConfiguration").urn}

    assert awaited <= recording.awaited("Deployment")
