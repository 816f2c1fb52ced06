"""What a pool does when machines run out or vanish, and that taking the platform away leaves no machine behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infra.core import names
from tests.e2e.node_pools import A100, GPU, H100, Pools, pytorch_job
from tests.e2e.objects import pod

pytestmark = pytest.mark.e2e

ZONE = "topology.kubernetes.io/zone"
BOUGHT_AS = "karpenter.sh/capacity-type"


@pytest.fixture(autouse=True)
def empty(pools: Pools) -> Iterator[None]:
    """Leave the pools as they were, so that tests do not depend on one another."""
    yield
    pools.remove_jobs()
    for pool in (A100, H100):
        pools.eventually(lambda pool=pool: pools.is_empty(pool), "the pools' return to zero", 180)


def test_pool_takes_spot_machines_and_falls_back_when_there_are_none(pools: Pools) -> None:
    first = pools.start(pytorch_job("cheap", pool=H100, workers=1))
    pools.eventually(lambda: pools.phases(first) == ["Running"] * 2, "two running pods", 180)
    assert pools.labels(H100, BOUGHT_AS) == ["spot"] * 2

    pools.run_out_of({"instanceType": "sandbox.h100", "capacityType": "spot"})
    second = pools.start(pytorch_job("dear", pool=H100, workers=1))

    pools.eventually(lambda: pools.phases(second) == ["Running"] * 2, "two more running pods", 240)
    assert pools.labels(H100, BOUGHT_AS) == ["on-demand"] * 2 + ["spot"] * 2
    assert pools.phases(first) == ["Running"] * 2
    pools.run_out_of()


def test_zones_without_machines_are_left_out(pools: Pools) -> None:
    sold_out = [{"instanceType": "sandbox.a100", "zone": zone} for zone in ("local-a", "local-b")]
    pools.run_out_of(*sold_out)

    job = pools.start(pytorch_job("elsewhere", pool=A100, workers=4))

    pools.eventually(lambda: pools.phases(job) == ["Running"] * 5, "five running pods", 240)
    assert pools.labels(A100, ZONE) == ["local-c"] * 5
    pools.run_out_of()


def test_worker_on_a_lost_machine_is_replaced_and_the_others_go_on(pools: Pools) -> None:
    job = pools.start(pytorch_job("hurt", pool=A100, workers=2))
    pools.eventually(lambda: pools.phases(job) == ["Running"] * 3, "three running pods", 180)
    before = pools.pods_of(job)
    lost = before["hurt-worker-1"]

    pools.lose(lost["spec"]["nodeName"])

    def replaced() -> bool:
        found = pools.pods_of(job).get("hurt-worker-1")
        return found is not None and found["metadata"]["uid"] != lost["metadata"]["uid"]

    pools.eventually(replaced, "a new worker", 180)
    pools.eventually(lambda: pools.phases(job) == ["Running"] * 3, "three running pods again", 180)
    after = pools.pods_of(job)
    kept = ("hurt-master-0", "hurt-worker-0")
    assert [after[name]["metadata"]["uid"] for name in kept] == [before[name]["metadata"]["uid"] for name in kept]
    pools.eventually(lambda: len(pools.nodes(A100)) == 3 and pools.is_whole(A100), "the end of the lost claim", 240)
    assert not pools.condition(job, "Failed")


def test_taking_the_platform_away_takes_the_machines_along(pools: Pools) -> None:
    waiting = pod("holder", nodeSelector={names.NODE_POOL: A100}, tolerations=[{"operator": "Exists"}])
    waiting["spec"]["containers"][0]["resources"] = {"limits": {GPU: "8"}}
    with pools.sandbox.api() as api:
        api.create(f"/api/v1/namespaces/{pools.namespace}/pods", waiting)
    pools.eventually(lambda: len(pools.nodes(A100)) == 1, "a machine")

    try:
        pools.destroy()

        assert pools.nodes(A100) == {}
    finally:
        pools.ensure_up()
