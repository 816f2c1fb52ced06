"""What the platform refuses: malformed jobs, jobs beyond the quota, other teams' people; each as the user sees it."""

from __future__ import annotations

import pytest

from tests.e2e.platform import MEMBER, OWNER, Platform, training_job

pytestmark = pytest.mark.e2e

GPUS = "requests.nvidia.com/gpu"


def test_malformed_job_is_rejected_with_field_and_fault(platform: Platform) -> None:
    refused = platform.submit(training_job("malformed", container="trainer"))

    assert refused.returncode != 0
    assert refused.stderr.strip() == (
        "Error from server (Forbidden): "
        'admission webhook "validator.pytorchjob.training-operator.kubeflow.org" denied the request: '
        "spec.pytorchReplicaSpecs[Worker].template.spec.containers: "
        "Required value: must have at least one container with name pytorch"
    )
    found = platform.kubectl("get", "pytorchjob", "malformed", "-n", "vision", user=MEMBER)
    assert "not found" in found.stderr


def test_job_beyond_the_quota_waits_and_says_why(platform: Platform) -> None:
    whole, more = training_job("whole-quota", workers=7), training_job("one-too-many")
    assert platform.submit(whole).returncode == 0
    platform.eventually(lambda: platform.job_runs(whole), "the job within the quota")

    assert platform.submit(more).returncode == 0

    def described() -> str:
        return platform.kubectl("describe", "pytorchjob", "one-too-many", "-n", "vision", user=MEMBER).stdout

    reason = f"exceeded quota: quota, requested: {GPUS}=1, used: {GPUS}=8, limited: {GPUS}=8"
    for pod in ("one-too-many-master-0", "one-too-many-worker-0"):
        message = f'Error creating: pods "{pod}" is forbidden: {reason}'
        platform.eventually(lambda message=message: message in described(), f"the event for {pod}")
    assert platform.pods_of(more) == {}

    removed = platform.kubectl("delete", "pytorchjob", "whole-quota", "-n", "vision", user=MEMBER)
    assert removed.returncode == 0, removed.stderr
    platform.eventually(lambda: platform.job_runs(more), "the waiting job, once there is room")


@pytest.mark.parametrize(
    ("person", "team"),
    [
        pytest.param(MEMBER, "language", id="member of another team"),
        pytest.param(OWNER, "language", id="viewer of the team"),
        pytest.param("luis@example.com", "vision", id="editor of another team"),
    ],
)
def test_who_may_not_edit_a_team_cannot_submit_there(platform: Platform, person: str, team: str) -> None:
    refused = platform.submit(training_job("foreign", namespace=team), user=person)

    assert refused.returncode != 0
    assert refused.stderr.strip() == (
        f'Error from server (Forbidden): pytorchjobs.kubeflow.org "foreign" is forbidden: User "{person}" '
        f'cannot patch resource "pytorchjobs" in API group "kubeflow.org" in the namespace "{team}"'
    )


def test_viewer_sees_jobs_of_the_team_and_others_do_not(platform: Platform) -> None:
    job = training_job("seen", namespace="language", workers=1)
    assert platform.submit(job, user="luis@example.com").returncode == 0

    seen = platform.kubectl("get", "pytorchjobs", "-n", "language", "-o", "name", user=OWNER)
    hidden = platform.kubectl("get", "pytorchjobs", "-n", "language", "-o", "name", user=MEMBER)

    assert seen.stdout.split() == ["pytorchjob.kubeflow.org/seen"]
    assert f'User "{MEMBER}" cannot list resource "pytorchjobs"' in hidden.stderr
