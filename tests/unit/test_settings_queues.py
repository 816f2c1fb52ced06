"""A team's quota laid out over pools: nothing lost, nothing doubled, and where the team wants it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.settings.capacity.pools import Amounts, quota_of
from infra.settings.models.scheduling import Kueue, NoQueues
from infra.settings.queues import beyond, borrow_percent, guarantees
from tests.unit.capacity_settings import CPU, GPU, SYSTEM, environment, shared, team
from tests.unit.core.parsing import parse

MORE_GPU = {**GPU, "name": "more", "accelerator": "H100", "nodes": {"min": 0, "max": 2}}
MORE_GPU.pop("accelerator")
OTHER_CPU = {**CPU, "name": "big", "machine": {"cpu": 40, "memory": "400Gi"}, "nodes": {"min": 0, "max": 3}}


def laid_out(*pools: dict[str, Any], **quota: Any) -> dict[str, Amounts]:
    shares = quota.pop("shares", [])
    chosen = environment(*pools, teams=[{**team(**quota), "shares": shares}])
    return guarantees(chosen.teams[0], chosen.cluster, shared(chosen))


def gpus(found: dict[str, Amounts]) -> dict[str, int]:
    return {pool: amounts.device("nvidia.com/gpu") for pool, amounts in found.items()}


def test_devices_go_by_the_pools_sizes() -> None:
    assert gpus(laid_out(SYSTEM, CPU, GPU, MORE_GPU, gpus=12)) == {"cpu": 0, "gpu": 8, "more": 4}


def test_no_device_is_lost_by_rounding() -> None:
    assert gpus(laid_out(SYSTEM, CPU, GPU, MORE_GPU, gpus=7)) == {"cpu": 0, "gpu": 5, "more": 2}


def test_devices_go_where_the_team_wants_them_and_the_rest_by_size() -> None:
    shares = [{"pool": "more", "devices": {"nvidia.com/gpu": 10}}]

    assert gpus(laid_out(SYSTEM, CPU, GPU, MORE_GPU, gpus=16, shares=shares)) == {"cpu": 0, "gpu": 6, "more": 10}


def test_cpus_follow_their_devices_and_the_rest_goes_to_cpu_pools() -> None:
    found = laid_out(SYSTEM, CPU, OTHER_CPU, GPU, cpu=190, memory="1000Gi", gpus=8)

    assert found["gpu"].cpu == 100
    assert (found["cpu"].cpu, found["big"].cpu) == (30, 60)
    assert found["gpu"].memory == 1000 * 1024**3
    assert found["cpu"].memory == 0


def test_cpus_go_to_pools_with_devices_where_there_are_no_others() -> None:
    assert laid_out(SYSTEM, GPU, cpu=300, gpus=0)["gpu"].cpu == 300


@settings(max_examples=40, deadline=None)
@given(cpu=st.integers(90, 400), gpu=st.integers(0, 48), gib=st.integers(900, 5000))
def test_guarantees_never_exceed_the_quota_nor_a_pool(cpu: int, gpu: int, gib: int) -> None:
    chosen = environment(SYSTEM, CPU, GPU, MORE_GPU, teams=[team(cpu=cpu, memory=f"{gib}Gi", gpus=gpu)])
    pools = shared(chosen)
    found = guarantees(chosen.teams[0], chosen.cluster, pools)
    together = sum(found.values(), Amounts())

    assert quota_of(chosen.teams[0], chosen.cluster).holds(together)
    assert together.device("nvidia.com/gpu") == gpu
    assert all(pool.whole.holds(found[pool.name]) for pool in pools)


@pytest.mark.parametrize(("percent", "gpus_more", "cpu_more"), [(0, 0, 0), (50, 3, 5), (33, 2, Decimal("3.3"))])
def test_borrowing_is_a_part_of_the_guarantee(percent: int, gpus_more: int, cpu_more: Decimal) -> None:
    more = beyond(Amounts(cpu=Decimal(10), devices={"nvidia.com/gpu": 7}), percent)

    assert (more.device("nvidia.com/gpu"), more.cpu) == (gpus_more, cpu_more)


def test_without_queues_nobody_borrows() -> None:
    resources = {"requests": {"cpu": 1, "memory": "1Gi"}, "limits": {"memory": "1Gi"}}

    assert borrow_percent(NoQueues(kind="none")) == 0
    assert borrow_percent(parse(Kueue, kind="kueue", installed="present", resources=resources, borrowPercent=25)) == 25
