"""Drift: what the engine finds changed by hand, and mends, and what it leaves to the controllers that fill it in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from infra.components.ml.training import NAME, WEBHOOK_CONFIGURATION, WEBHOOK_SECRET
from tests.e2e.platform import OPERATOR, Change, Platform

if TYPE_CHECKING:
    from sandbox.api import Json

pytestmark = pytest.mark.e2e

WEBHOOKS = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{WEBHOOK_CONFIGURATION}"
SECRET = f"/api/v1/namespaces/kubeflow/secrets/{WEBHOOK_SECRET}"
BUDGET = f"/apis/policy/v1/namespaces/kubeflow/poddisruptionbudgets/{NAME}"
MESH = "/api/v1/namespaces/istio-system/configmaps/istio"


def test_second_up_changes_nothing(platform: Platform) -> None:
    platform.up("--expect-no-changes")
    assert platform.plan() == []


def test_what_controllers_fill_in_is_no_drift(platform: Platform) -> None:
    webhooks: list[Json] = platform.get(WEBHOOKS)["webhooks"]
    assert all(webhook["clientConfig"].get("caBundle") for webhook in webhooks)
    assert platform.get(SECRET)["data"].keys() >= {"ca.crt", "tls.crt", "tls.key"}

    assert platform.plan("--refresh") == []


def test_hand_scaled_deployment_is_the_only_drift_and_is_mended(platform: Platform) -> None:
    scaled = platform.kubectl("scale", "deployment", NAME, "-n", "kubeflow", "--replicas=1")
    assert scaled.returncode == 0, scaled.stderr
    platform.eventually(lambda: platform.get(OPERATOR)["status"].get("replicas") == 1, "scaling down by hand")

    assert platform.plan("--refresh") == [Change(NAME, "update", ("spec.replicas",))]

    platform.up("--refresh")
    platform.eventually(lambda: platform.get(OPERATOR)["status"].get("readyReplicas") == 2, "scaling up again")
    assert platform.plan("--refresh") == []


def test_hand_edited_objects_are_the_only_drift_and_are_mended(platform: Platform) -> None:
    declared = platform.get(BUDGET)["spec"], platform.get(MESH)["data"]
    for path, patch in (
        (BUDGET, {"spec": {"maxUnavailable": 2}}),
        (MESH, {"data": {"mesh": "accessLogFile: /dev/null\n", "by-hand": "true"}}),
    ):
        _, namespace, kind, name = path.rsplit("/", 3)
        edited = platform.kubectl("patch", kind, name, "-n", namespace, "--type=merge", "-p", json.dumps(patch))
        assert edited.returncode == 0, edited.stderr

    assert sorted(platform.plan("--refresh"), key=lambda change: change.name) == [
        Change("istiod-mesh", "update", ("data.mesh",)),
        Change(NAME, "update", ("spec.maxUnavailable",)),
    ]

    platform.up("--refresh")
    budget, mesh = platform.get(BUDGET)["spec"], platform.get(MESH)["data"]
    assert (budget, {"mesh": mesh["mesh"]}) == (declared[0], {"mesh": declared[1]["mesh"]})
    assert platform.plan("--refresh") == []


def test_object_deleted_by_hand_is_planned_and_made_again(platform: Platform) -> None:
    deleted = platform.kubectl("delete", "poddisruptionbudget", NAME, "-n", "kubeflow")
    assert deleted.returncode == 0, deleted.stderr

    assert platform.plan("--refresh") == [Change(NAME, "create")]

    platform.up("--refresh")
    assert platform.find(BUDGET) is not None
