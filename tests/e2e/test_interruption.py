"""Training on machines that somebody wants back: it is told in time, saves, and goes on elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from infra.components.cluster.node_pools import controller
from infra.core import names
from sandbox.agent.pod_folder import PodFolder
from tests.e2e.checkpoints import Checkpoints, training
from tests.e2e.node_pools import CLAIMS, GPU, GRACE_SECONDS, H100, L4, Pools, pytorch_job

if TYPE_CHECKING:
    from sandbox.api import Json

pytestmark = pytest.mark.e2e

VANISHES_AT = "sandbox.flotilla.dev/vanishes-at"
LOOKS = re.compile(
    "karpenter_voluntary_disruption_decision_evaluation_duration_seconds_count"
    r'\{consolidation_type="single",reason="underutilized"\} (\d+)'
)


@pytest.fixture(autouse=True)
def empty(pools: Pools) -> Iterator[None]:
    """Leave the pools as they were, so that tests do not depend on one another."""
    yield
    pools.interrupt()
    pools.remove_jobs()
    for pool in (H100, L4):
        pools.eventually(lambda pool=pool: pools.is_empty(pool), "the pools' return to zero", 180)


@pytest.fixture
def checkpoints(pools: Pools) -> Iterator[Checkpoints]:
    """Yield an empty folder for checkpoints."""
    shared = Checkpoints(pools)
    shared.clear()
    yield shared
    shared.finish()


def started(pools: Pools, checkpoints: Checkpoints, job: Json) -> dict[str, Json]:
    """Start a job of a master and a worker, and return its pods once both made steps on machines that are up."""
    pools.start(job)
    name = job["metadata"]["name"]
    pods = (f"{name}-master-0", f"{name}-worker-0")
    for pod in pods:
        pools.eventually(lambda pod=pod: checkpoints.progress(pod).get("step", 0) > 3, f"steps of {pod}", 180)
    pools.eventually(lambda: all(map(is_up, pools.nodes(H100).values())), "machines that are up")
    return pools.pods_of(job)


def is_up(node: Json) -> bool:
    return node["metadata"]["labels"].get("karpenter.sh/initialized") == "true"


def uid(pod: Json) -> str:
    return pod["metadata"]["uid"]


def test_pod_on_a_spot_machine_saves_before_it_vanishes_and_resumes_elsewhere(
    pools: Pools, checkpoints: Checkpoints
) -> None:
    job = training("saves", pool=H100, workers=1)
    before = started(pools, checkpoints, job)
    worker, lost = "saves-worker-0", before["saves-worker-0"]["spec"]["nodeName"]
    assert pools.labels(H100, "karpenter.sh/capacity-type") == ["spot"] * 2

    seen: dict[str, Any] = {}
    pools.interrupt(lost)

    def told() -> bool:
        pod, node = pools.pods_of(job).get(worker), pools.nodes(H100).get(lost)
        if node:
            seen["end"] = node["metadata"].get("annotations", {}).get(VANISHES_AT)
        if pod and uid(pod) == uid(before[worker]):
            seen["grace"] = pod["metadata"].get("deletionGracePeriodSeconds")
        return bool(seen.get("end") and seen.get("grace"))

    pools.eventually(told, "the worker's signal")
    assert 0 < seen["grace"] <= GRACE_SECONDS, "the pod's ten minutes are cut to what the machine has left"
    pools.eventually(lambda: checkpoints.saved(worker) is not None, "the checkpoint")
    saved = checkpoints.saved(worker)
    assert saved
    assert saved["node"] == lost
    assert saved["saved"] < datetime.fromisoformat(seen["end"]).timestamp()

    pools.eventually(lambda: checkpoints.progress(worker).get("lives") == 2, "the worker's second life", 180)
    resumed = checkpoints.progress(worker)
    assert resumed["first"] == saved["step"] > 3
    assert resumed["node"] != lost
    pools.eventually(lambda: lost not in pools.nodes(H100), "the end of the machine")
    assert uid(pools.pods_of(job)["saves-master-0"]) == uid(before["saves-master-0"])
    assert not pools.condition(job, "Failed")

    checkpoints.finish()
    pools.eventually(lambda: pools.condition(job, "Succeeded"), "the job's success", 120)


def test_machine_is_bought_elsewhere_than_where_one_was_taken(pools: Pools, checkpoints: Checkpoints) -> None:
    job = training("moves", pool=H100, workers=1)
    before = started(pools, checkpoints, job)
    lost = before["moves-worker-0"]["spec"]["nodeName"]
    zone = pools.nodes(H100)[lost]["metadata"]["labels"]["topology.kubernetes.io/zone"]

    pools.interrupt(lost)

    pools.eventually(lambda: checkpoints.progress("moves-worker-0").get("lives") == 2, "the second life", 180)
    labels = pools.nodes(H100)[checkpoints.progress("moves-worker-0")["node"]]["metadata"]["labels"]
    bought = (labels["topology.kubernetes.io/zone"], labels["karpenter.sh/capacity-type"])
    assert bought != (zone, "spot")
    warnings = pools.get("/api/v1/events?fieldSelector=reason=SpotInterrupted")["items"]
    assert lost in {event["involvedObject"]["name"] for event in warnings}


def test_machine_lost_without_notice_takes_its_process_along(pools: Pools, checkpoints: Checkpoints) -> None:
    job = training("falls", pool=H100, workers=1)
    before = started(pools, checkpoints, job)
    worker = "falls-worker-0"
    process = PodFolder.of(pools.sandbox.layout.pods, pools.namespace, worker).pid("pytorch")
    assert process.exists()

    pools.lose(before[worker]["spec"]["nodeName"])

    pools.eventually(lambda: not process.exists(), "the end of the process")
    assert checkpoints.saved(worker) is None
    pools.eventually(lambda: checkpoints.progress(worker).get("first") == 0, "a start from nothing", 180)
    pools.eventually(
        lambda: checkpoints.progress(worker).get("node") not in {None, before[worker]["spec"]["nodeName"]},
        "a new machine",
        180,
    )
    assert uid(pools.pods_of(job)["falls-master-0"]) == uid(before["falls-master-0"])


def part_of_a_machine(name: str, gpus: int, *, protected: bool) -> Json:
    """Return a job of one pod that shares a machine of eight GPUs."""
    job = pytorch_job(name, pool=L4, workers=1)
    replicas = job["spec"]["pytorchReplicaSpecs"]
    del replicas["Worker"]
    template = replicas["Master"]["template"]
    amounts = {"cpu": "1", "memory": "1Gi", GPU: str(gpus)}
    template["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": {GPU: str(gpus)}}
    if protected:
        template["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] = "true"
    return job


def two_machines(pools: Pools, *, protected: bool) -> tuple[Json, Json]:
    """Return a job that fills half a machine, and one alone on another that would fit beside it by now."""
    host = pools.start(part_of_a_machine("host", 4, protected=True))
    pools.eventually(lambda: pools.phases(host) == ["Running"], "the first job", 180)
    filler = pools.start(part_of_a_machine("filler", 4, protected=True))
    pools.eventually(lambda: pools.phases(filler) == ["Running"], "the second job", 180)
    guest = pools.start(part_of_a_machine("guest", 2, protected=protected))
    pools.eventually(lambda: pools.phases(guest) == ["Running"], "the third job", 180)
    assert len(pools.nodes(L4)) == 2
    pools.kubectl("-n", pools.namespace, "delete", "pytorchjob", "filler", "--cascade=foreground", "--wait")
    return host, guest


def may_be_saved(claim: Json) -> bool:
    """Return whether a machine's pods have not changed for so long that Karpenter may think of taking it away."""
    conditions: list[Json] = claim["status"]["conditions"]
    return any(each["type"] == "Consolidatable" and each["status"] == "True" for each in conditions)


def looks_for_savings(pools: Pools) -> int:
    """Return how often Karpenter has considered which used machine it could do without."""
    found: list[str] = []
    for pod in pools.autoscaler.pods():
        path = f"/api/v1/namespaces/{controller.NAMESPACE}/pods/{pod}:8080/proxy/metrics"
        found += LOOKS.findall(pools.kubectl("get", "--raw", path).stdout)
    return sum(map(int, found))


def node_of(pools: Pools, job: Json) -> str:
    (pod,) = pools.pods_of(job).values()
    return pod["spec"].get("nodeName", "")


def test_machine_under_running_training_stays_though_it_is_hardly_used(pools: Pools) -> None:
    _, guest = two_machines(pools, protected=True)
    node = node_of(pools, guest)

    pools.eventually(lambda: all(map(may_be_saved, pools.claims(L4).values())), "machines quiet for long enough")
    looks = looks_for_savings(pools)
    pools.eventually(lambda: looks_for_savings(pools) >= looks + 3, "three looks for what can be saved", 120)
    assert node in pools.nodes(L4)
    assert pools.phases(guest) == ["Running"]

    pools.kubectl("-n", pools.namespace, "delete", "pytorchjob", "guest", "--cascade=foreground", "--wait")
    pools.eventually(lambda: node not in pools.nodes(L4), "the machine's end with its job", 180)


def test_machine_under_a_job_that_may_move_is_given_back(pools: Pools) -> None:
    host, guest = two_machines(pools, protected=False)
    node = node_of(pools, guest)

    pools.eventually(lambda: node not in pools.nodes(L4), "the machine's end", 240)

    def moved() -> bool:
        return pools.phases(guest) == ["Running"] and node_of(pools, guest) == node_of(pools, host)

    pools.eventually(moved, "the job's move", 180)
    claims = pools.get(f"{CLAIMS}?labelSelector={names.NODE_POOL}={L4}")["items"]
    assert len(claims) == 1
