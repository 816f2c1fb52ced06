"""Pod status: phase and conditions follow from the containers as a kubelet computes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sandbox.agent.containers import Container
from sandbox.agent.status import Facts, pod_phase, pod_status
from tests.unit.agent_objects import pod

Json = dict[str, Any]
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
WAITING = Container(name="main", image="app:1")
RUNNING = replace(WAITING.runs(NOW), started=True, ready=True)
DONE = RUNNING.ended(0, NOW)
FAILED = RUNNING.ended(3, NOW)
CRASHING = FAILED.waits("CrashLoopBackOff")


def facts(*containers: Container, policy: str = "Always", init: Sequence[Container] = (), **spec: Any) -> Facts:
    declared = [{"name": item.name, "image": item.image, **spec.get(item.name, {})} for item in init]
    return Facts(
        pod=pod(restart_policy=policy, init=declared),
        address="10.200.0.11",
        host_address="10.128.0.2",
        started_at=NOW,
        init=init,
        containers=containers,
    )


def conditions(known: Facts) -> dict[str, str]:
    return {item["type"]: item["status"] for item in pod_status(known, NOW)["conditions"]}


@pytest.mark.parametrize(
    ("containers", "policy", "phase"),
    [
        ([WAITING], "Always", "Pending"),
        ([RUNNING, WAITING], "Always", "Pending"),
        ([RUNNING], "Always", "Running"),
        ([RUNNING, DONE], "Never", "Running"),
        ([DONE], "Always", "Running"),
        ([CRASHING], "Always", "Running"),
        ([CRASHING], "OnFailure", "Running"),
        ([FAILED], "OnFailure", "Running"),
        ([DONE, DONE], "OnFailure", "Succeeded"),
        ([DONE], "Never", "Succeeded"),
        ([DONE, FAILED], "Never", "Failed"),
    ],
)
def test_phase_follows_containers_and_policy(containers: list[Container], policy: str, phase: str) -> None:
    assert pod_phase(facts(*containers, policy=policy)) == phase


def test_pod_is_pending_until_its_init_containers_are_done() -> None:
    init = replace(WAITING, name="init")
    assert pod_phase(facts(WAITING, init=[init.runs(NOW)])) == "Pending"
    assert pod_phase(facts(RUNNING, init=[init.runs(NOW).ended(0, NOW)])) == "Running"
    assert pod_phase(facts(WAITING, init=[init.runs(NOW).ended(1, NOW)], policy="Never")) == "Failed"
    assert pod_phase(facts(WAITING, init=[init.runs(NOW).ended(1, NOW)])) == "Pending"


def test_sidecar_lets_the_others_start_once_it_is_up() -> None:
    sidecar = replace(WAITING, name="mesh").runs(NOW)
    mesh: dict[str, Any] = {"restartPolicy": "Always"}
    assert conditions(facts(WAITING, init=[sidecar], mesh=mesh))["Initialized"] == "False"
    up = replace(sidecar, started=True)
    assert conditions(facts(RUNNING, init=[up], mesh=mesh))["Initialized"] == "True"


def test_ready_pod_has_all_conditions() -> None:
    assert set(conditions(facts(RUNNING)).values()) == {"True"}


def test_unready_container_is_named() -> None:
    unready = replace(RUNNING, ready=False)
    ready = next(item for item in pod_status(facts(unready), NOW)["conditions"] if item["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "ContainersNotReady")
    assert ready["message"] == "containers with unready status: [main]"


def test_readiness_gate_keeps_the_pod_from_being_ready() -> None:
    known = facts(RUNNING)
    known.pod["spec"]["readinessGates"] = [{"conditionType": "example.org/gate"}]
    assert conditions(known)["Ready"] == "False"
    assert conditions(known)["ContainersReady"] == "True"
    known.pod["status"]["conditions"] = [{"type": "example.org/gate", "status": "True"}]
    assert conditions(known)["Ready"] == "True"


def test_transition_time_is_kept_while_a_condition_holds() -> None:
    known = facts(RUNNING)
    known.pod["status"]["conditions"] = pod_status(known, NOW)["conditions"]
    later = pod_status(known, NOW + timedelta(hours=1))
    assert {item["lastTransitionTime"] for item in later["conditions"]} == {"2026-01-02T03:04:05Z"}
    fallen = replace(known, containers=[replace(RUNNING, ready=False)])
    changed = pod_status(fallen, NOW + timedelta(hours=1))["conditions"]
    times = {item["type"]: item["lastTransitionTime"] for item in changed}
    assert times["Ready"] == "2026-01-02T04:04:05Z"
    assert times["Initialized"] == "2026-01-02T03:04:05Z"


def test_addresses_and_generation_are_reported() -> None:
    status = pod_status(facts(RUNNING), NOW)
    assert (status["podIP"], status["hostIP"], status["observedGeneration"]) == ("10.200.0.11", "10.128.0.2", 3)
    assert status["podIPs"] == [{"ip": "10.200.0.11"}]


def test_deleted_pod_whose_containers_ended_is_over_whatever_its_policy() -> None:
    known = facts(FAILED, policy="Always")
    known.pod["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    assert pod_phase(known) == "Failed"
