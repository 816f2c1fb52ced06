"""A GPU that breaks under a running job: its machine is replaced, and the job goes on; many at once are not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.e2e.node_pools import A100, Pools, pytorch_job

if TYPE_CHECKING:
    from sandbox.api import Json

pytestmark = pytest.mark.e2e

DISRUPTED = "karpenter.sh/disrupted"


@pytest.fixture(autouse=True)
def empty(pools: Pools) -> Iterator[None]:
    """Leave the pools as they were, so that tests do not depend on one another."""
    yield
    pools.remove_jobs()
    pools.eventually(lambda: pools.is_empty(A100), "the pool's return to zero", 180)


def break_gpu(pools: Pools, node: str) -> None:
    """Report a broken GPU as EKS' node monitoring agent does."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    condition = {
        "type": "AcceleratedHardwareReady",
        "status": "False",
        "reason": "NvidiaXID79Error",
        "message": "detected XID-79",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
    change = json.dumps({"status": {"conditions": [condition]}})
    done = pools.kubectl("patch", "node", node, "--subresource=status", "--type=strategic", "-p", change)
    assert done.returncode == 0, done.stderr


def protected(job: Json) -> Json:
    """Return the job, which nobody may disrupt to save money."""
    for replicas in job["spec"]["pytorchReplicaSpecs"].values():
        replicas["template"]["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] = "true"
    return job


def test_machine_with_a_broken_gpu_is_replaced_and_the_job_goes_on(pools: Pools) -> None:
    job = pools.start(protected(pytorch_job("works", pool=A100, workers=2)))
    pools.eventually(lambda: pools.phases(job) == ["Running"] * 3, "three running pods", 180)
    before = pools.pods_of(job)
    broken = before["works-worker-0"]["spec"]["nodeName"]

    break_gpu(pools, broken)

    def closed() -> bool:
        node = pools.nodes(A100).get(broken)
        return node is not None and any(taint["key"] == DISRUPTED for taint in node["spec"].get("taints", []))

    pools.eventually(closed, "the taint of the broken machine")

    def replaced() -> bool:
        pod = pools.pods_of(job).get("works-worker-0")
        return pod is not None and pod["spec"].get("nodeName") not in {None, broken}

    pools.eventually(replaced, "a worker elsewhere", 180)
    pools.eventually(lambda: pools.phases(job) == ["Running"] * 3, "three running pods again", 180)
    pools.eventually(lambda: broken not in pools.nodes(A100), "the end of the broken machine", 120)
    after = pools.pods_of(job)
    kept = ("works-master-0", "works-worker-1")
    assert [after[name]["metadata"]["uid"] for name in kept] == [before[name]["metadata"]["uid"] for name in kept]
    assert not pools.condition(job, "Failed")
    pools.eventually(lambda: len(pools.nodes(A100)) == 3 and pools.is_whole(A100), "three machines", 120)


def test_many_broken_gpus_at_once_are_taken_for_a_fault_elsewhere(pools: Pools) -> None:
    job = pools.start(pytorch_job("doubts", pool=A100, workers=2))
    pools.eventually(lambda: pools.phases(job) == ["Running"] * 3, "three running pods", 180)
    broken = {pools.pods_of(job)[f"doubts-worker-{index}"]["spec"]["nodeName"] for index in range(2)}

    for node in sorted(broken):
        break_gpu(pools, node)

    def held_back() -> bool:
        events = pools.get("/api/v1/events?fieldSelector=reason=NodeRepairBlocked")["items"]
        return broken <= {event["involvedObject"]["name"] for event in events}

    pools.eventually(held_back, "Karpenter's refusal to repair")
    assert broken <= set(pools.nodes(A100))
    assert pools.phases(job) == ["Running"] * 3
