"""Pods that are refused, and jobs that queue: whose they are, and whether waiting helps."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.doctor_fakes import FakeApi
from tests.unit.doctor_pods import event, listed, looked, target

Json = dict[str, Any]

CREATE = "/api/v1/events?limit=500&fieldSelector=reason=FailedCreate"
CREATE_POD = "/api/v1/events?limit=500&fieldSelector=reason=FailedCreatePod"
JOB = "/apis/kubeflow.org/v1/namespaces/vision/pytorchjobs/train"
QUOTA = "/api/v1/namespaces/vision/resourcequotas/quota"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/workloads"
BEYOND = (
    'Error creating: pods "train-worker-1" is forbidden: exceeded quota: quota, requested: requests.cpu=1,'
    "requests.nvidia.com/gpu=8, used: requests.cpu=2,requests.nvidia.com/gpu=16, limited: requests.cpu=64,"
    "requests.nvidia.com/gpu=16"
)


def refusal(message: str, *, seconds: float = 60, uid: str = "1") -> Json:
    found = event("train", message, kind="PyTorchJob", seconds=seconds)
    found["involvedObject"] |= {"apiVersion": "kubeflow.org/v1", "uid": uid}
    return found


def refusing(*events: Json, hard: str = "16", used: str = "16", job: bool = True) -> FakeApi:
    amounts = {"hard": {"requests.cpu": "64", "requests.nvidia.com/gpu": hard}}
    objects: dict[str, Json] = {
        CREATE: listed(),
        CREATE_POD: listed(*events),
        QUOTA: {"status": {**amounts, "used": {"requests.cpu": "2", "requests.nvidia.com/gpu": used}}},
    }
    return FakeApi(objects | ({JOB: {"metadata": {"uid": "1"}}} if job else {}))


def refused(api: FakeApi) -> list[tuple[str, str]]:
    return [(each.status, each.what) for each in looked(api, check="cluster-refused-pods")]


def test_a_quota_that_is_used_up_is_named_with_what_it_lacks() -> None:
    [found] = looked(refusing(refusal(BEYOND)), check="cluster-refused-pods")

    assert found.subject == "cluster c PyTorchJob vision/train"
    assert found.status == "warn"
    assert found.what == "the quota of the team vision is used up: nvidia.com/gpu: 8 for a pod, 16 of 16 used"


def test_a_pod_beyond_the_whole_quota_is_told_so() -> None:
    assert refused(refusing(refusal(BEYOND), hard="4", used="0")) == [
        ("fail", "one pod is beyond the quota of the team vision: nvidia.com/gpu: 8 for a pod, 0 of 4 used")
    ]


def test_other_refusals_are_shown_as_they_are() -> None:
    message = 'Error creating: pods "x" is forbidden: maximum cpu usage per Container is 48, but limit is 96.'

    assert refused(refusing(refusal(message))) == [
        ("fail", "its pods are refused: maximum cpu usage per Container is 48, but limit is 96")
    ]


@pytest.mark.parametrize(
    "api",
    [
        refusing(refusal(BEYOND), used="8"),
        refusing(refusal(BEYOND, seconds=4000)),
        refusing(refusal(BEYOND), job=False),
        refusing(refusal(BEYOND, uid="former")),
        refusing(),
    ],
    ids=["room again", "long ago", "gone", "another of the same name", "none"],
)
def test_refusals_that_are_over_are_left_out(api: FakeApi) -> None:
    assert refused(api) == [("ok", "no pod is refused")]


def test_a_job_refused_often_is_told_once_by_its_last_refusal() -> None:
    other = "Error creating: pods is forbidden: violates PodSecurity"

    assert refused(refusing(refusal(other, seconds=10), refusal(BEYOND, seconds=300))) == [
        ("fail", "its pods are refused: violates PodSecurity")
    ]


def workload(message: str = "", *, reason: str = "Pending", active: bool = True, **conditions: str) -> Json:
    said = [{"type": "QuotaReserved", "status": "False", "reason": reason, "message": message}] if message else []
    known = {each["type"]: each for each in said} | {
        kind: {"type": kind, "status": status} for kind, status in conditions.items()
    }
    return {
        "metadata": {
            "name": "pytorchjob-train-1",
            "namespace": "vision",
            "ownerReferences": [{"kind": "PyTorchJob", "name": "train"}],
        },
        "spec": {"active": active},
        "status": {
            "conditions": list(known.values()),
            "admissionChecks": [{"name": "budget", "state": "Pending"}],
        },
    }


MISFIT = "couldn't assign flavors to pod set worker: insufficient"
UNUSED = f"{MISFIT} unused quota for nvidia.com/gpu in flavor gpu, 8 more needed"
LARGEST = f"{MISFIT} quota for cpu in flavor gpu, requests > maximum capacity (4)"

QUEUED = {
    "quota in use": (workload(UNUSED), "warn", f"waits for quota: {UNUSED}"),
    "one flavor in use, another too small": (workload(f"{LARGEST}; {UNUSED}"), "warn", "waits for quota: couldn't"),
    "no flavor large enough": (workload(LARGEST), "fail", f"its queue could never hold it: {LARGEST}"),
    "no such queue": (
        workload("LocalQueue fast doesn't exist", reason="Inadmissible"),
        "fail",
        "its queue does not take it: LocalQueue fast doesn't exist",
    ),
    "deactivated": (workload(UNUSED, active=False), "fail", "is deactivated: Kueue starts it no more"),
    "admission checks": (workload(QuotaReserved="True"), "ok", "has its quota, and waits for admission checks: budget"),
    "new": (workload(), "ok", "Kueue has not looked at it yet"),
}


@pytest.mark.parametrize("case", QUEUED)
def test_jobs_in_queues_are_told_what_they_wait_for(case: str) -> None:
    queued, status, what = QUEUED[case]
    ended = workload(Finished="True", QuotaReserved="True")
    started = workload(QuotaReserved="True", Admitted="True")
    [found] = looked(FakeApi({WORKLOADS: listed(queued, ended, started)}), target(queues=True), "cluster-queues")

    assert found.subject == "cluster c PyTorchJob vision/train"
    assert found.status == status
    assert found.what.startswith(what)


def test_queues_are_looked_at_only_where_there_are_some() -> None:
    assert looked(FakeApi(), target(), "cluster-queues") == []
    assert [each.what for each in looked(FakeApi(), target(queues=True), "cluster-queues")] == [
        "Kueue comes with Flotilla"
    ]
    empty = FakeApi({WORKLOADS: listed(workload(Admitted="True"))})
    assert [each.what for each in looked(empty, target(queues=True), "cluster-queues")] == ["no job waits in a queue"]


def test_only_some_of_many_queued_jobs_are_shown() -> None:
    found = looked(FakeApi({WORKLOADS: listed(*[workload(UNUSED)] * 23)}), target(queues=True), "cluster-queues")

    assert len(found) == 21
    assert found[-1].what == "3 more jobs wait in queues"
