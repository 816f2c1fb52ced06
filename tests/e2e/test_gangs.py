"""Pods that start all together or not at all: a real second scheduler, and the real training operator's groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from infra.components.cluster.gangs.coscheduling import NAMESPACE
from sandbox.cluster import Sandbox
from tests.e2e.gangs import SCHEDULER, Gangs, write_values
from tests.e2e.queues import queued_job, start_sandbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def installation_with_gangs(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gangs]:
    """Yield a platform with a gang scheduler, up as declared."""
    folder = tmp_path_factory.mktemp("gangs")
    settings = write_values(folder / "values")
    own = Sandbox("gangs", folder / "sandbox", tools=tools)
    start_sandbox(own, settings)
    try:
        platform = Gangs(own, folder)
        platform.ensure_up()
        yield platform
    finally:
        own.down()


@pytest.fixture
def gangs(installation_with_gangs: Gangs) -> Iterator[Gangs]:
    """Yield the platform with a gang scheduler; tests leave no job behind."""
    yield installation_with_gangs
    installation_with_gangs.remove_jobs()


def test_scheduler_runs_as_two_processes_of_which_one_leads(gangs: Gangs) -> None:
    deployment = gangs.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/gang-scheduler")
    purposes = {node["metadata"]["name"]: node["metadata"]["labels"] for node in gangs.get("/api/v1/nodes")["items"]}
    pods = gangs.scheduler.pods()

    assert deployment["status"]["readyReplicas"] == 2
    assert {purposes[pod["spec"]["nodeName"]]["flotilla.dev/purpose"] for pod in pods.values()} == {"system"}
    gangs.eventually(lambda: gangs.scheduler.leader() in pods, "a leader")
    assert gangs.plan() == []


def test_job_without_room_for_all_its_pods_holds_no_gpu(gangs: Gangs) -> None:
    first = gangs.start(queued_job("first", "vision", pods=2))
    gangs.eventually(lambda: gangs.runs(first), "the first job's run")
    second = gangs.start(queued_job("second", "language", pods=2))
    gangs.eventually(lambda: len(gangs.refusals(second)) == 2, "why the second job's pods wait")

    assert gangs.group(second)["spec"]["minMember"] == 2
    assert {pod["spec"]["schedulerName"] for pod in gangs.pods_of(second).values()} == {SCHEDULER}
    assert gangs.placed(second) == 0

    third = gangs.start(queued_job("third", "language", pods=1))
    gangs.eventually(lambda: gangs.runs(third), "the third job's run on the GPUs that the second does not hold")
    gangs.finish(first)
    gangs.eventually(lambda: gangs.runs(second), "the second job's run")


def test_jobs_that_start_at_once_do_not_halve_the_machines(gangs: Gangs) -> None:
    jobs = [gangs.start(queued_job(name, team, pods=2)) for name, team in (("one", "vision"), ("two", "language"))]
    gangs.eventually(lambda: any(gangs.runs(job) for job in jobs), "one whole job's run")
    winner, loser = sorted(jobs, key=gangs.placed, reverse=True)
    gangs.eventually(lambda: len(gangs.refusals(loser)) == 2, "the wait of the other")

    assert gangs.placed(loser) == 0
    gangs.finish(winner)
    gangs.eventually(lambda: gangs.runs(loser), "the other job's run")


def test_losing_the_leader_loses_no_job(gangs: Gangs) -> None:
    first = gangs.start(queued_job("before", "vision", pods=2))
    gangs.eventually(lambda: gangs.runs(first), "the first job's run")
    second = gangs.start(queued_job("waiting", "language", pods=2))
    gangs.eventually(lambda: len(gangs.refusals(second)) == 2, "why the second job's pods wait")
    leader = gangs.scheduler.leader()
    assert leader

    gangs.scheduler.kill(leader)
    gangs.finish(first)
    gangs.eventually(lambda: gangs.scheduler.leader() not in (None, leader), "another leader")
    gangs.eventually(lambda: gangs.runs(second), "the second job's run")
