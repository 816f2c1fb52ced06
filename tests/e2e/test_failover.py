"""The training operator's failover: a killed leader's work goes on under the other replica, by right of its lease."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.components.ml.training import LEASE, NAME
from sandbox.api import Json
from tests.e2e.platform import OPERATOR, PROGRAM, Platform, training_job

pytestmark = pytest.mark.e2e

PODS = f"/api/v1/namespaces/kubeflow/pods?labelSelector=app.kubernetes.io/name={NAME}"
LEASE_PATH = f"/apis/coordination.k8s.io/v1/namespaces/kubeflow/leases/{LEASE}"
WITHOUT_LEASE = Path(__file__).parent / "programs" / "without_lease"
GPU_NODES = "nvidia.com/gpu.present=true"
ATTEMPTS = 3
REFUSED = '"Error retrieving lease lock" err="leases.coordination.k8s.io'


class Operator:
    """The training operator of a platform: two replicas, each a real process."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def pods(self) -> dict[str, Json]:
        """Return its pods by name, without those that are being deleted."""
        pods: list[Json] = self._platform.get(PODS)["items"]
        return {pod["metadata"]["name"]: pod for pod in pods if "deletionTimestamp" not in pod["metadata"]}

    def is_ready(self) -> bool:
        """Return whether both replicas are ready, and no others are there."""
        status = self._platform.get(OPERATOR)["status"]
        return (status.get("readyReplicas"), status.get("replicas"), len(self.pods())) == (2, 2, 2)

    def leader(self) -> str | None:
        """Return the pod that holds the lease, if one of the present ones does."""
        lease = self._platform.find(LEASE_PATH)
        holder: str = lease["spec"].get("holderIdentity", "") if lease else ""
        return next((pod for pod in self.pods() if holder.startswith(f"{pod}_")), None)

    def restarts(self, pod: str) -> int:
        """Return how often the process of a pod was started again."""
        return self.pods()[pod]["status"]["containerStatuses"][0]["restartCount"]

    def crash(self, pod: str) -> None:
        """Kill the process of a pod, and once more when it comes back, as one that crashes for good.

        A first crash is followed by a start at once; that process might win the lease against the other replica. After
        a second crash it is kept waiting for longer than the other needs.
        """
        first = self._process(pod)
        os.kill(first, signal.SIGKILL)
        self._platform.eventually(lambda: self._process(pod) not in (0, first), f"a restart of {pod}")
        os.kill(self._process(pod), signal.SIGKILL)

    def log(self, pod: str) -> str:
        """Return what the process of a pod has printed."""
        return self._file(pod, "log").read_text(errors="replace")

    def _process(self, pod: str) -> int:
        try:
            return int(self._file(pod, "pid").read_text())
        except (FileNotFoundError, ValueError):
            return 0

    def _file(self, pod: str, kind: str) -> Path:
        return self._platform.sandbox.layout.pods / f"kubeflow_{pod}" / f"{NAME}.{kind}"


@pytest.fixture
def operator(platform: Platform) -> Operator:
    if reason := platform.sandbox.status().only_simulated_because:
        pytest.skip(f"no replica runs as a process: {reason}")
    ready = Operator(platform)
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
        operator.crash(leader)
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
