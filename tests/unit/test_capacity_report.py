"""Pools, quotas, zones and costs of an environment add up."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from infra.settings import environments, load
from infra.settings.capacity.costs import HOURS
from infra.settings.capacity.report import Report, report
from tests.unit.capacity_settings import CPU, GPU, PRICES, SYSTEM, environment, team


def of(*pools: dict[str, Any], **settings: Any) -> Report:
    return report(environment(*pools, **settings))


def fixed(pool: dict[str, Any]) -> dict[str, Any]:
    return {**pool, "nodes": {"min": pool["nodes"]["max"], "max": pool["nodes"]["max"]}}


def test_overcommit_is_what_is_promised_over_what_is_there() -> None:
    found = {line.resource: line for line in of(teams=[team("a", gpus=32), team("b", gpus=16)]).resources}

    assert (found["nvidia.com/gpu"].promised, found["nvidia.com/gpu"].held) == (48, 32)
    assert found["nvidia.com/gpu"].overcommit == Decimal("1.5")
    assert found["nvidia.com/gpu"].missing == 16
    assert found["cpu"].held == 6 * 10 + 4 * 100
    assert found["cpu"].missing == 0


def test_resource_that_no_pool_has_has_no_ratio() -> None:
    found = {line.resource: line for line in of(SYSTEM, CPU, teams=[team(gpus=0)]).resources}

    assert found["nvidia.com/gpu"].overcommit is None
    assert found["nvidia.com/gpu"].missing == 0


@pytest.mark.parametrize(
    ("gpus", "at_most", "bound"),
    [(8, 8, "quota"), (32, 32, "quota"), (64, 32, "pools")],
)
def test_largest_job_is_bound_by_quota_or_pools(gpus: int, at_most: int, bound: str) -> None:
    (line,) = of(teams=[team(gpus=gpus)]).teams
    job = {each.accelerator: each for each in line.largest}["A100"]

    assert (job.amount, job.bound, job.in_one_zone) == (at_most, bound, at_most)


def test_largest_job_in_one_zone_of_a_fixed_pool_is_that_zones_share() -> None:
    (line,) = of(SYSTEM, fixed(CPU), fixed(GPU), fixed=True, teams=[team(gpus=32)]).teams
    found = {each.accelerator: (each.amount, each.in_one_zone) for each in line.largest}

    assert found == {None: (Decimal(60), Decimal(20)), "A100": (Decimal(32), Decimal(16))}


def test_lost_zone_takes_its_share_and_elastic_pools_regrow() -> None:
    by_zone = {line.zone: line for line in of().zones}

    assert [by_zone[zone].lost.device("nvidia.com/gpu") for zone in "abc"] == [16, 16, 0]
    assert [by_zone[zone].remains.device("nvidia.com/gpu") for zone in "abc"] == [32, 32, 32]
    assert by_zone["c"].lost.cpu == 20


def test_lost_zone_stays_lost_to_fixed_pools() -> None:
    by_zone = {line.zone: line for line in of(SYSTEM, fixed(CPU), fixed(GPU), fixed=True).zones}

    assert [by_zone[zone].remains.device("nvidia.com/gpu") for zone in "abc"] == [16, 16, 32]
    assert by_zone["a"].remains.cpu == 40 + 200


def test_pool_of_the_lost_zone_alone_is_gone() -> None:
    by_zone = {line.zone: line for line in of(SYSTEM, CPU, {**GPU, "zones": ["a"]}).zones}

    assert by_zone["a"].gone == ("gpu",)
    assert by_zone["a"].remains.device("nvidia.com/gpu") == 0
    assert by_zone["b"].gone == ()


def test_pools_cost_their_nodes_at_rest_and_at_most() -> None:
    found = {line.pool.name: line.cost for line in of(prices=PRICES).pools}

    assert {name: (cost.floor, cost.ceiling) for name, cost in found.items() if cost} == {
        "system": (3 * HOURS, 3 * HOURS),
        "cpu": (0, 6 * 2 * HOURS),
        "gpu": (0, 4 * 40 * HOURS),
    }


def test_spot_machines_cost_the_spot_price_and_on_demand_where_none_is_listed() -> None:
    pools = [SYSTEM, {**CPU, "capacityType": "spot"}, {**GPU, "capacityType": "spot"}]
    found = {line.pool.name: line.cost for line in of(*pools, prices=PRICES).pools}

    assert found["cpu"] is not None
    assert found["cpu"].ceiling == 6 * Decimal("0.5") * HOURS
    assert found["gpu"] is not None
    assert found["gpu"].ceiling == 4 * 40 * HOURS


def test_floors_of_teams_and_platform_add_up_to_the_pools() -> None:
    found = of(
        SYSTEM,
        fixed(CPU),
        fixed(GPU),
        fixed=True,
        prices=PRICES,
        teams=[team("a", cpu=10, gpus=4), team("b", cpu=20, gpus=8), team("c", cpu=30, gpus=0)],
    )
    floors = [line.cost.floor for line in found.teams if line.cost]

    assert found.platform is not None
    assert found.total is not None
    assert len(floors) == 3
    assert abs(sum(floors) + found.platform.floor - found.total.floor) < Decimal("0.01")


def test_team_at_most_fills_its_quota_with_the_dearest_machines() -> None:
    (line,) = of(prices=PRICES, teams=[team(cpu=220, memory="100Gi", gpus=9)]).teams

    assert line.cost is not None
    assert line.cost.floor == 0
    assert line.cost.ceiling == (2 * 40 + 2 * 2) * HOURS  # 2 GPU nodes bring 200 CPUs; 20 more are 2 CPU nodes


def test_team_never_costs_less_at_most_than_at_rest() -> None:
    for line in of(SYSTEM, fixed(CPU), fixed(GPU), fixed=True, prices=PRICES, teams=[team(gpus=1)]).teams:
        assert line.cost is not None
        assert line.cost.ceiling >= line.cost.floor


def test_machine_without_a_price_leaves_out_what_rests_on_it() -> None:
    prices = {**PRICES, "machines": PRICES["machines"][:2]}
    found = of(prices=prices)

    assert found.unpriced == ("g",)
    assert found.total is None
    assert [line.cost for line in found.teams] == [None]
    assert found.platform is not None


def test_without_prices_nothing_costs_anything_known() -> None:
    found = of()

    assert (found.total, found.platform) == (None, None)
    assert all(line.cost is None for line in (*found.pools, *found.teams))


def test_environment_of_no_teams_is_all_the_platforms() -> None:
    found = of(prices=PRICES, teams=[])

    assert found.platform == found.total
    assert all(line.promised == 0 for line in found.resources)


JOB: dict[str, Any] = {
    "name": "job",
    "team": "vision",
    "groups": [
        {
            "name": "worker",
            "pods": 2,
            "cpu": 40,
            "memory": "100Gi",
            "gpus": 8,
            "pool": "gpu",
            "tolerations": ["nvidia.com/gpu"],
        }
    ],
}
OTHER_GPU = {**GPU, "name": "more"}


@pytest.mark.parametrize(
    ("borrow_percent", "shares", "obstacle"),
    [
        (None, [], None),
        (0, [], "the queue of vision has no room for its worker pods on one pool: gpu 8 GPUs of 16 GPUs"),
        (100, [], None),
        (0, [{"pool": "gpu", "devices": {"nvidia.com/gpu": 16}}], None),
    ],
)
def test_job_needs_room_in_its_teams_queue_on_one_pool(
    borrow_percent: int | None, shares: list[Any], obstacle: str | None
) -> None:
    teams = [{**team(cpu=400, memory="4000Gi"), "shares": shares}]
    (line,) = of(SYSTEM, CPU, GPU, OTHER_GPU, teams=teams, jobs=[JOB], borrow_percent=borrow_percent).jobs

    assert line.obstacles == ((obstacle,) if obstacle else ())


def test_example_jobs_of_this_repository_can_run() -> None:
    for name in environments():
        assert [line for line in report(load(name)).jobs if line.obstacles] == []
