"""Whether a job can ever run, and what stands in its way: quota, limits, taints, machines, zones or numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.settings import Settings
from infra.settings.capacity.jobs import declared, obstacles
from infra.settings.capacity.placement import Job, Pods
from infra.settings.capacity.pools import Amounts, quota_of
from infra.settings.models.capacity import ExampleJob
from tests.unit.capacity_settings import CPU, GPU, SYSTEM, environment, shared, team
from tests.unit.core.parsing import parse

TOLERATING: dict[str, Any] = {"tolerations": ["nvidia.com/gpu"]}
WIDE = team(cpu=10_000, memory="100Ti", gpus=1000, pods=1000)


def group(name: str = "worker", pods: int = 1, **changes: Any) -> dict[str, Any]:
    return {"name": name, "pods": pods, "cpu": 10, "memory": "10Gi", **changes}


def _obstacles(job: Job, settings: Settings) -> list[str]:
    team = settings.teams[0]
    return obstacles(job, shared(settings), team, quota_of(team, settings.cluster))


def judge(*groups: dict[str, Any], same_zone: bool = False, **settings: Any) -> list[str]:
    """Return why a job of these groups could never run in an environment."""
    chosen = environment(*settings.pop("pools", ()), teams=[settings.pop("team", WIDE)], **settings)
    job = parse(ExampleJob, name="job", team="vision", groups=list(groups), sameZone=same_zone)
    return _obstacles(declared(job), chosen)


@pytest.mark.parametrize(
    "groups",
    [
        [group()],
        [group(pods=6)],
        [group(pods=4, gpus=8, cpu=90, **TOLERATING)],
        [group("master", gpus=8, **TOLERATING), group(pods=3, gpus=8, **TOLERATING)],
        [group(pods=32, gpus=1, **TOLERATING)],
        [group(accelerator="A100", gpus=1, **TOLERATING), group("data", pods=6)],
        [group(pool="cpu", pods=6)],
    ],
)
def test_job_that_fits_has_no_obstacle(groups: list[dict[str, Any]]) -> None:
    assert judge(*groups) == []


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([group(cpu=11)], "cpu offers 10 CPUs a node, and the pod requests 11 CPUs; gpu has the taint nvidia.com/gpu"),
        ([group(gpus=9, **TOLERATING)], "gpu offers 8 GPUs a node, and the pod requests 9 GPUs"),
        ([group(gpus=1)], "gpu has the taint nvidia.com/gpu, which the pod does not tolerate"),
        ([group(gpus=1, accelerator="H100", **TOLERATING)], "gpu has nvidia.com/gpu.product=A100, and the pod selects"),
        ([group(accelerator="A100")], "cpu has no nvidia.com/gpu.product, and the pod selects A100"),
        ([group(pool="cpu", gpus=1)], "cpu offers 0 GPUs a node"),
        ([group(pods=5, gpus=8, **TOLERATING)], "only 4 of its 5 pods fit at once: gpu has at most 4 nodes"),
        ([group(pods=7)], "only 6 of its 7 pods fit at once: cpu has at most 6 nodes"),
        ([group(pods=4, gpus=5, **TOLERATING), group("more", gpus=4, **TOLERATING)], "only 4 of its 5 pods fit"),
    ],
)
def test_job_that_could_never_run_says_why(groups: list[dict[str, Any]], reason: str) -> None:
    (found,) = judge(*groups)

    assert reason in found


@pytest.mark.parametrize(
    ("quota", "reason"),
    [
        ({"cpu": 20}, "its pods request 30 CPUs together, and the quota of vision is 20 CPUs"),
        ({"memory": "29Gi"}, "its pods request 30Gi together, and the quota of vision is 29Gi"),
        ({"gpus": 2}, "its pods request 3 GPUs together, and the quota of vision is 2 GPUs"),
        ({"pods": 2}, "it has 3 pods, and the quota of vision is 2"),
    ],
)
def test_job_beyond_the_quota_could_never_run(quota: dict[str, Any], reason: str) -> None:
    assert judge(group(pods=3, gpus=1, **TOLERATING), team=team(**quota)) == [reason]


def test_container_beyond_the_teams_limit_could_never_run() -> None:
    assert judge(group(cpu=91, gpus=1, **TOLERATING)) == [
        "a worker pod requests 91 CPUs, and vision admits at most 90 CPUs a container"
    ]


def test_every_obstacle_is_named_at_once() -> None:
    assert len(judge(group(pods=3, gpus=9, **TOLERATING), team=team(gpus=2))) == 2


def test_job_in_one_zone_has_all_nodes_of_an_elastic_pool() -> None:
    assert judge(group(pods=4, gpus=8, **TOLERATING), same_zone=True) == []


def test_job_in_one_zone_has_that_zones_nodes_of_a_fixed_pool() -> None:
    fixed = {**GPU, "nodes": {"min": 3, "max": 3}}
    whole_nodes: dict[str, Any] = {"gpus": 8, **TOLERATING}

    assert judge(group(pods=2, **whole_nodes), same_zone=True, pools=[SYSTEM, fixed], fixed=True) == []
    assert judge(group(pods=3, **whole_nodes), same_zone=True, pools=[SYSTEM, fixed], fixed=True) == [
        "only 2 of its 3 pods fit at once in one zone, at best a: gpu has at most 2 nodes"
    ]


def test_what_nodes_keep_for_themselves_is_not_given_away() -> None:
    assert "offers 9 CPUs a node" in judge(group(), reserve={"cpu": 1, "memory": 0})[0]


def test_system_nodes_are_not_for_teams() -> None:
    assert "there is no cpu or gpu pool" in judge(group(cpu=1), pools=[SYSTEM])[0]


def test_pool_of_no_nodes_takes_nothing() -> None:
    assert "cpu has no nodes" in judge(group(), pools=[SYSTEM, {**CPU, "nodes": {"min": 0, "max": 0}}])[0]


def test_zone_that_a_pod_selects_counts_only_nodes_there() -> None:
    settings = environment(SYSTEM, {**CPU, "nodes": {"min": 3, "max": 3}}, teams=[WIDE], fixed=True)

    def job(zone: str, count: int) -> list[str]:
        each = Amounts(cpu=Decimal(10))
        pods = Pods(name="pod", count=count, each=each, selector={"topology.kubernetes.io/zone": zone})
        return _obstacles(Job(name="job", team="vision", groups=(pods,)), settings)

    assert job("a", 1) == []
    assert "only 1 of its 2 pods" in job("a", 2)[0]
    assert "cpu has no nodes in d" in job("d", 1)[0]


@given(pods=st.integers(1, 12), gpus=st.integers(1, 8))
def test_like_pods_fit_exactly_when_their_nodes_do(pods: int, gpus: int) -> None:
    each_node = 8 // gpus

    fits = judge(group(pods=pods, gpus=gpus, **TOLERATING)) == []

    assert fits == (pods <= 4 * each_node)
