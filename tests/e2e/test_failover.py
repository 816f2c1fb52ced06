"""The training operator's failover: a killed leader's work goes on under the other replica, by right of its lease."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.components.ml.training import LEASE, NAME
from tests.e2e.leaders import Replicas
from tests.e2e.platform import OPERATOR, PROGRAM, Platform, training_job

pytestmark = pytest.mark.e2e

LEASE_PATH = f"/apis/coordination.k8s.io/v1/namespaces/kubeflow/leases/{LEASE}"
WITHOUT_LEASE = Path(__file__).parent / "programs" / "without_lease"
GPU_NODES = "nvidia.com/gpu.present=true"
ATTEMPTS = 3
REFUSED = '"Error retrieving lease lock" err="leases.coordination.k8s.io'


class Operator(Replicas):
    """The training operator of a platform: two replicas, each a real process."""

    @classmethod
    def of(cls, platform: Platform) -> Operator:
        """Return the operator of a platform."""
        return cls(platform=platform, namespace="kubeflow", name=NAME, lease=LEASE, container=NAME)

    def is_ready(self) -> bool:
        """Return whether both replicas are ready, and no others are there."""
        status = self.platform.get(OPERATOR)["status"]
        return (status.get("readyReplicas"), status.get("replicas"), len(self.pods())) == (2, 2, 2)

    def restarts(self, pod: str) -> int:
        """Return how often the process of a pod was started again."""
        return self.pods()[pod]["status"]["containerStatuses"][0]["restartCount"]


@pytest.fixture
def operator(platform: Platform) -> Operator:
    if reason := platform.sandbox.status().only_simulated_because:
        pytest.skip(f"no replica runs as a process: {reason}")
    ready = Operator.of(platform)
    platform.eventually(ready.is_ready, "two ready replicas")
    platform.eventually(lambda: ready.leader() is not None, "a leader")
    return ready


@contextmanager
def no_room(platform: Platform) -> Generator[None]:
    """Keep pods from being scheduled, so that they stay starting."""
    assert platform.kubectl("cordon", "-l", GPU_NODES).returncode == 0
    try:
        yield
    finally:
        assert platform.kubectl("uncordon", "-l", GPU_NODES).returncode == 0


def test_job_goes_on_under_the_other_replica_when_the_leader_is_killed(platform: Platform, operator: Operator) -> None:
    # Two GPUs short of the quota: a request that dies with the leader stays charged until the quota is counted again.
    job = training_job("survives", workers=5)
    leader = operator.leader()
    assert leader
    (other,) = operator.pods().keys() - {leader}
    restarts = operator.restarts(leader)

    with no_room(platform):
        submitted = platform.submit(job)
        assert submitted.returncode == 0, submitted.stderr
        platform.eventually(lambda: bool(platform.pods_of(job)), "the job's first pod")
        operator.kill(leader)
        started = platform.pods_of(job)
        assert {pod["status"]["phase"] for pod in started.values()} == {"Pending"}

    platform.eventually(lambda: operator.leader() == other, "the other replica's lead")
    platform.eventually(lambda: platform.job_runs(job), "the job's run under the other replica")
    running = platform.pods_of(job)
    assert {name: running[name]["metadata"]["uid"] for name in started} == {
        name: pod["metadata"]["uid"] for name, pod in started.items()
    }
    platform.eventually(lambda: operator.restarts(leader) == restarts + 2, "the killed replica's restart")
    platform.eventually(operator.is_ready, "two ready replicas again")
    assert operator.leader() == other


def test_without_the_lease_permission_nobody_leads_and_jobs_stay_without_pods(
    platform: Platform, operator: Operator
) -> None:
    job = training_job("orphan")
    before = operator.pods().keys()
    try:
        platform.run_program(WITHOUT_LEASE)
        platform.up()
        assert platform.kubectl("delete", "lease", LEASE, "-n", "kubeflow").returncode == 0
        assert platform.kubectl("delete", "pods", "-n", "kubeflow", *before).returncode == 0
        platform.eventually(lambda: operator.is_ready() and not before & operator.pods().keys(), "new replicas")
        submitted = platform.submit(job)
        assert submitted.returncode == 0, submitted.stderr
        for pod in operator.pods():
            platform.eventually(
                lambda pod=pod: operator.log(pod).count(REFUSED) >= ATTEMPTS, f"refused attempts of {pod} to lead"
            )

        assert platform.find(LEASE_PATH) is None
        assert platform.pods_of(job) == {}
    finally:
        platform.run_program(PROGRAM)
        platform.up()

    platform.eventually(lambda: operator.leader() is not None, "a leader, with the permission back")
    platform.eventually(lambda: platform.job_runs(job), "the job's run, with a leader")
