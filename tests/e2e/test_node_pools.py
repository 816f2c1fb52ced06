"""Pools that exist only while they are used: the real Karpenter grows them from zero and gives them back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.components.cluster.node_pools import controller
from infra.core import names
from tests.e2e.diagnosis import diagnose_pools
from tests.e2e.node_pools import A100, ZONES, Pools, pytorch_job

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def empty(pools: Pools) -> Iterator[None]:
    """Leave the pools as they were, so that tests do not depend on one another."""
    yield
    pools.remove_jobs()
    pools.eventually(lambda: pools.is_empty(A100), "the pool's return to zero", 180)


def test_autoscaler_runs_twice_in_two_zones_and_on_system_nodes_only(pools: Pools) -> None:
    hosts = {node["metadata"]["name"]: node for node in pools.get("/api/v1/nodes")["items"]}
    used = [hosts[pod["spec"]["nodeName"]]["metadata"]["labels"] for pod in pools.autoscaler.pods().values()]

    assert len(used) == 2
    assert {labels[names.NODE_PURPOSE] for labels in used} == {"system"}
    assert len({labels["topology.kubernetes.io/zone"] for labels in used}) == 2
    budget = pools.get(f"/apis/policy/v1/namespaces/{controller.NAMESPACE}/poddisruptionbudgets/{controller.NAME}")
    assert budget["spec"]["maxUnavailable"] == 1
    assert pools.autoscaler.leader() in pools.autoscaler.pods()


def test_pool_grows_from_zero_to_what_a_job_needs_and_back_to_zero(pools: Pools) -> None:
    assert pools.is_empty(A100)

    job = pools.start(pytorch_job("exact", pool=A100, workers=4, seconds=20))

    pools.eventually(lambda: pools.phases(job) == ["Running"] * 5, "five running pods", 180)
    assert len(pools.nodes(A100)) == 5
    pools.eventually(lambda: pools.is_whole(A100), "one node for each claim")
    assert set(pools.labels(A100, "topology.kubernetes.io/zone")) <= set(ZONES)
    pools.eventually(lambda: pools.condition(job, "Succeeded"), "the job's success", 120)
    pools.eventually(lambda: pools.is_empty(A100), "the pool's return to zero", 180)


def test_pod_beyond_the_limit_stays_pending_and_its_event_and_the_doctor_name_the_limit(
    pools: Pools, tmp_path: Path
) -> None:
    job = pools.start(pytorch_job("vast", pool=A100, workers=6))

    pools.eventually(lambda: pools.phases(job) == ["Pending", *["Running"] * 6], "six running pods of seven", 180)
    (waiting,) = [name for name, pod in pools.pods_of(job).items() if pod["status"]["phase"] == "Pending"]
    named = re.compile(f"limits .*nodepool.*{A100}")
    pools.eventually(lambda: bool(named.search(pools.events(waiting))), "an event that names the pool's limit")
    assert len(pools.nodes(A100)) == 6
    told = diagnose_pools(pools, tmp_path)["PyTorchJob vast"]
    assert (told["check"], told["status"]) == ("cluster-pods", "fail")
    assert told["what"].startswith(f"1 of its 7 pods waits: {A100} is at its limit of 6 nodes; of the whole job only 6")
    assert f"`nodes.max` of {A100}" in told["run"]


@pytest.mark.parametrize("moment", ["claimed", "booting"])
def test_leader_killed_while_the_pool_grows_loses_and_doubles_no_node(pools: Pools, moment: str) -> None:
    leader = pools.autoscaler.leader()
    assert leader
    (other,) = pools.autoscaler.pods().keys() - {leader}
    start = pools.now()
    job = pools.start(pytorch_job(f"survives-{moment}", pool=A100, workers=4))

    made = pools.claims if moment == "claimed" else pools.nodes
    pools.eventually(lambda: bool(made(A100)), f"the first machine, {moment}")
    pools.autoscaler.kill(leader)

    pools.eventually(lambda: pools.autoscaler.leader() == other, "the other replica's lead")
    pools.eventually(lambda: pools.phases(job) == ["Running"] * 5, "five running pods", 180)
    pools.eventually(lambda: pools.is_whole(A100), "one node for each claim")
    claims, nodes = pools.ever(A100, start)
    assert len(claims) == len(nodes) == 5
    assert nodes == pools.nodes(A100).keys()
