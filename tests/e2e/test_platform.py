"""The environment `local` as a whole: what stands after `pulumi up`, and that `pulumi destroy` leaves nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from infra.core.crds.properties import BUNDLE_LABEL
from tests.e2e.platform import OPERATOR_PODS, Platform, training_job

if TYPE_CHECKING:
    from sandbox.api import Json

pytestmark = pytest.mark.e2e

OURS = "app.kubernetes.io/managed-by=flotilla"


def test_every_workload_is_available_in_two_zones(platform: Platform) -> None:
    deployments: list[Json] = platform.get(f"/apis/apps/v1/deployments?labelSelector={OURS}")["items"]
    zones = {
        node["metadata"]["name"]: node["metadata"]["labels"]["topology.kubernetes.io/zone"]
        for node in platform.get("/api/v1/nodes")["items"]
    }
    assert {deployment["metadata"]["name"] for deployment in deployments} >= {"istiod", "training-operator"}
    for deployment in deployments:
        name, namespace = deployment["metadata"]["name"], deployment["metadata"]["namespace"]
        selector = ",".join(f"{key}={value}" for key, value in deployment["spec"]["selector"]["matchLabels"].items())
        path = f"/api/v1/namespaces/{namespace}/pods?labelSelector={selector}"

        def zones_with_a_ready_pod(path: str = path) -> set[str]:
            pods: list[Json] = platform.get(path)["items"]
            return {zones[pod["spec"]["nodeName"]] for pod in pods if _is_ready(pod)}

        platform.eventually(
            lambda count=zones_with_a_ready_pod: len(count()) >= 2, f"ready pods of {name} in two zones"
        )


def test_training_operator_runs_as_processes_of_the_declared_deployment(platform: Platform) -> None:
    if reason := platform.sandbox.status().only_simulated_because:
        pytest.skip(f"no replica runs as a process: {reason}")
    for pod in platform.get(OPERATOR_PODS)["items"]:
        logged = platform.kubectl("logs", pod["metadata"]["name"], "-n", "kubeflow")
        assert "Registering a validating webhook" in logged.stdout, logged.stderr


def test_stack_exports_what_others_look_up(platform: Platform) -> None:
    assert json.loads(platform.succeeds("stack", "output", "--json")) == {
        "domain": "kubeflow.localhost",
        "environment": "local",
        "gateway": "istio-ingressgateway.istio-system",
        "sharedStorageClass": "shared",
        "teams": ["vision", "language"],
    }


def test_destroy_leaves_nothing_of_ours_even_while_a_job_runs(platform: Platform) -> None:
    job = training_job("still-running")
    assert platform.submit(job).returncode == 0
    platform.eventually(lambda: platform.job_runs(job), "the job's run")
    assert _objects(platform, OURS)
    assert _objects(platform, BUNDLE_LABEL)

    platform.destroy()

    assert _objects(platform, OURS) == []
    assert _objects(platform, BUNDLE_LABEL) == []
    namespaces = {each["metadata"]["name"] for each in platform.get("/api/v1/namespaces")["items"]}
    assert namespaces == {"default", "kube-node-lease", "kube-public", "kube-system"}
    assert "resources" not in json.loads(platform.succeeds("stack", "export"))["deployment"]


def _is_ready(pod: Json) -> bool:
    conditions: list[Json] = pod.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _objects(platform: Platform, label: str) -> list[str]:
    """Return every object of any kind that has the label."""
    kinds = platform.kubectl("api-resources", "--verbs=list", "-o", "name").stdout.split()
    found = platform.kubectl("get", ",".join(kinds), "-A", "-l", label, "-o", "name")
    assert found.returncode == 0, found.stderr
    return found.stdout.split()
