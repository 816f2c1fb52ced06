"""Jobs that wait their turn: the real Kueue, as declared, in front of the real training operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from infra.components.cluster.queues import LEASE, NAMESPACE
from sandbox.cluster import Sandbox
from tests.e2e.diagnosis import diagnose
from tests.e2e.platform import training_job
from tests.e2e.queues import BLOCK, ENVIRONMENT, GPU, GUARANTEED, RACK, Queues, queued_job, start_sandbox, write_values

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.platform import Platform

pytestmark = pytest.mark.e2e

SAME_RACK = {"kueue.x-k8s.io/podset-required-topology": RACK}
SAME_BLOCK = {"kueue.x-k8s.io/podset-required-topology": BLOCK, "kueue.x-k8s.io/podset-group-name": "all"}
"""The latter also keeps a master with its workers."""


@pytest.fixture(scope="module")
def installation_with_queues(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Queues]:
    """Yield a platform with Kueue, up as declared."""
    folder = tmp_path_factory.mktemp("queues")
    settings = write_values(folder / "values")
    own = Sandbox("queues", folder / "sandbox", tools=tools)
    start_sandbox(own, settings)
    try:
        platform = Queues(own, folder)
        platform.ensure_up()
        yield platform
    finally:
        own.down()


@pytest.fixture
def queues(installation_with_queues: Queues) -> Iterator[Queues]:
    """Yield the platform with Kueue; tests leave no job behind."""
    installation_with_queues.ensure_up()
    yield installation_with_queues
    installation_with_queues.remove_jobs()


def test_declared_release_runs_as_two_processes_of_which_one_leads(queues: Queues) -> None:
    deployment = queues.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/kueue-controller-manager")
    nodes = {node["metadata"]["name"]: node["metadata"]["labels"] for node in queues.get("/api/v1/nodes")["items"]}
    pods = queues.kueue.pods()

    assert deployment["status"]["readyReplicas"] == 2
    assert len({nodes[pod["spec"]["nodeName"]]["topology.kubernetes.io/zone"] for pod in pods.values()}) == 2
    assert queues.kueue.leader() in pods
    for pod in pods:
        logged = queues.kubectl("logs", pod, "-n", NAMESPACE)
        assert "Starting manager" in logged.stdout, logged.stderr
    assert queues.plan() == []


def test_second_job_of_a_team_waits_and_starts_when_the_first_ends(queues: Queues) -> None:
    first = queues.start(queued_job("first", "language", pods=6))
    queues.eventually(lambda: queues.runs(first), "six running pods")

    second = queues.start(queued_job("second", "language", pods=6))
    queues.eventually(lambda: "insufficient unused quota" in queues.waits_because(second), "why the second job waits")
    assert GPU in queues.waits_because(second)
    assert queues.is_suspended(second)

    queues.finish(first)
    queues.eventually(lambda: queues.is_admitted(second) and queues.runs(second), "the second job's run")


def test_teams_without_queues_get_what_their_quotas_allow_and_no_more(platform: Platform) -> None:
    quotas = {"vision": 8, "language": 16}
    for team, quota in quotas.items():
        job = training_job("greedy", workers=quota + 3, namespace=team)
        platform.eventually(lambda job=job: platform.submit(job, user="").returncode == 0, "the job's admission")

    def gpus(team: str) -> int:
        pods = platform.get(f"/api/v1/namespaces/{team}/pods")["items"]
        return sum(pod["status"]["phase"] == "Running" for pod in pods)

    platform.eventually(lambda: {team: gpus(team) for team in quotas} == quotas, "a pool shared by quotas")
    for team, quota in quotas.items():
        used = platform.get(f"/api/v1/namespaces/{team}/resourcequotas/quota")["status"]["used"]
        assert used[f"requests.{GPU}"] == str(quota)


def test_team_borrows_up_to_its_limit_and_gives_back_when_the_owner_comes(queues: Queues) -> None:
    jobs = [queues.start(queued_job(f"vision-{index}", "vision", pods=2)) for index in range(3)]
    queues.eventually(lambda: sum(map(queues.runs, jobs)) == 2, "what the team has and may borrow")
    (beyond,) = (job for job in jobs if not queues.runs(job))
    vast = queues.start(queued_job("vast", "vision", pods=5, master=False))
    queues.eventually(lambda: "insufficient unused quota" in queues.waits_because(beyond), "a wait for quota")
    queues.eventually(lambda: "maximum capacity (32)" in queues.waits_because(vast), "the limit, by its name")
    assert queues.gpus_in_use("vision") == 2 * GUARANTEED["vision"]

    owner = queues.start(queued_job("owner", "language", pods=6))

    queues.eventually(lambda: queues.runs(owner), "the owner's run")
    queues.eventually(lambda: queues.gpus_in_use("vision") == GUARANTEED["vision"], "the end of what was lent")
    assert queues.gpus_in_use("language") == GUARANTEED["language"]

    queues.finish(owner)
    queues.eventually(lambda: sum(map(queues.runs, jobs)) == 2, "borrowing anew")


def test_doctor_tells_a_job_that_waits_its_turn_from_one_that_never_starts(queues: Queues) -> None:
    running = queues.start(queued_job("running", "language", pods=8))
    queues.eventually(lambda: queues.runs(running), "eight running pods")
    turn = queues.start(queued_job("turn", "language", pods=4))
    never = queues.start(queued_job("never", "vision", pods=5, master=False))
    queues.eventually(lambda: "insufficient unused quota" in queues.waits_because(turn), "a wait for quota")
    queues.eventually(lambda: "maximum capacity" in queues.waits_because(never), "the limit")

    told = diagnose(queues, ENVIRONMENT, queues.values)

    waiting, vain = told["PyTorchJob language/turn"], told["PyTorchJob vision/never"]
    assert (waiting["check"], waiting["status"]) == ("cluster-queues", "warn")
    assert waiting["what"].startswith("waits for quota: couldn't assign flavors to pod set")
    assert (vain["check"], vain["status"]) == ("cluster-queues", "fail")
    assert vain["what"].startswith("its queue could never hold it: couldn't assign flavors to pod set")


def test_leader_killed_loses_no_admission_and_makes_none_twice(queues: Queues) -> None:
    leader = queues.kueue.leader()
    assert leader
    (other,) = queues.kueue.pods().keys() - {leader}
    running = queues.start(queued_job("running", "language", pods=6))
    queues.eventually(lambda: queues.runs(running), "six running pods")
    waiting = queues.start(queued_job("waiting", "language", pods=6))
    queues.eventually(lambda: bool(queues.waits_because(waiting)), "the second job's wait")
    before = {name: pod["metadata"]["uid"] for name, pod in queues.pods_of(running).items()}

    queues.kueue.kill(leader)
    late = queues.start(queued_job("late", "vision", pods=2))

    queues.eventually(lambda: queues.kueue.leader() == other, "the other replica's lead")
    queues.eventually(lambda: queues.runs(late), "the run of a job that came while nobody led")
    assert {name: pod["metadata"]["uid"] for name, pod in queues.pods_of(running).items()} == before
    assert queues.is_suspended(waiting)
    queues.finish(running)
    queues.eventually(lambda: queues.runs(waiting), "the waiting job's run")
    assert queues.gpus_in_use("language") == GUARANTEED["language"]


def test_job_that_asks_for_one_rack_gets_one_and_waits_while_none_is_free(queues: Queues) -> None:
    single = [queues.start(queued_job(f"single-{index}", "language", pods=1)) for index in range(3)]
    queues.eventually(lambda: all(map(queues.runs, single)), "three pods of their own")

    pair = queues.start(queued_job("pair", "vision", pods=2, master=False, annotations=SAME_RACK))
    queues.eventually(lambda: queues.runs(pair), "two running pods")
    assert len(queues.places(pair, RACK)) == 1

    triple = queues.start(queued_job("triple", "language", pods=3, master=False, annotations=SAME_RACK))
    queues.eventually(lambda: "topology" in queues.waits_because(triple), "why the job of three waits")
    assert queues.is_suspended(triple)


def test_job_that_asks_for_one_block_gets_one_once_others_leave_it(queues: Queues) -> None:
    spread = [
        queues.start(queued_job(f"spread-{index}", "language", pods=2, annotations=SAME_BLOCK)) for index in range(3)
    ]
    queues.eventually(lambda: all(map(queues.runs, spread)), "six running pods")
    whole = queues.start(queued_job("whole", "vision", pods=4, annotations=SAME_BLOCK))
    queues.eventually(lambda: bool(queues.waits_because(whole)), "the wait for a block")

    places = [queues.places(job, BLOCK) for job in spread]
    assert all(len(blocks) == 1 for blocks in places)
    for job, blocks in zip(spread, places, strict=True):
        if blocks == places[0]:
            queues.finish(job)

    queues.eventually(lambda: queues.runs(whole), "four running pods")
    assert queues.places(whole, BLOCK) == places[0]


def test_taking_the_platform_away_ends_jobs_that_run_and_jobs_that_wait(queues: Queues) -> None:
    running = queues.start(queued_job("running", "language", pods=6))
    queues.eventually(lambda: queues.runs(running), "six running pods")
    queues.start(queued_job("waiting", "language", pods=6))

    queues.destroy()

    spaces = {each["metadata"]["name"] for each in queues.get("/api/v1/namespaces")["items"]}
    assert spaces.isdisjoint({NAMESPACE, *GUARANTEED})
    assert queues.find(f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{LEASE}") is None
