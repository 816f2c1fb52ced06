"""A pod's status, computed from what is known of its containers; pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.agent.containers import Container, Running, Terminated, Waiting, should_restart, timestamp

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of a pod.

    Args:
        pod: the pod as declared.
        address: the pod's address, once it has one.
        host_address: its node's address.
        started_at: when the agent took it on.
        sandboxed: whether its namespaces exist.
        init: its init containers, in order.
        containers: its containers, in order.
        failure: reason and message when the pod failed as a whole.
    """

    pod: Json
    address: str | None
    host_address: str | None
    started_at: datetime
    sandboxed: bool = True
    init: Sequence[Container] = ()
    containers: Sequence[Container] = ()
    failure: tuple[str, str] | None = None


def pod_status(facts: Facts, now: datetime) -> Json:
    """Return the status to report; condition times are kept from the present status where nothing changed."""
    phase = pod_phase(facts)
    status: Json = {
        "phase": phase,
        "startTime": timestamp(facts.started_at),
        "observedGeneration": facts.pod["metadata"].get("generation", 1),
        "initContainerStatuses": [container.to_json() for container in facts.init],
        "containerStatuses": [container.to_json() for container in facts.containers],
    }
    if facts.failure:
        status["reason"], status["message"] = facts.failure
    if facts.address:
        status["podIP"] = facts.address
        status["podIPs"] = [{"ip": facts.address}]
    if facts.host_address:
        status["hostIP"] = facts.host_address
        status["hostIPs"] = [{"ip": facts.host_address}]
    present: Json = facts.pod.get("status", {})
    before = {condition["type"]: condition for condition in present.get("conditions", [])}
    conditions = _conditions(facts, phase, before)
    for condition in conditions:
        condition["lastTransitionTime"] = _since(condition, before.get(condition["type"]), now)
    status["conditions"] = conditions
    return status


def pod_phase(facts: Facts) -> str:
    """Return where a pod is in its life, from its containers' states and its restart policy."""
    if facts.failure:
        return "Failed"
    policy = facts.pod["spec"].get("restartPolicy", "Always")
    if not initialized(facts):
        return "Failed" if any(_gave_up(container, policy) for container in facts.init) else "Pending"
    outcomes = [container.outcome for container in facts.containers]
    if any(outcome is None and isinstance(item.state, Waiting) for outcome, item in _pairs(facts)):
        return "Pending"
    ends = [outcome for outcome in outcomes if outcome]
    if len(ends) < len(outcomes) or not ends:
        return "Running"
    if any(should_restart(policy, end.exit_code) for end in ends) and "deletionTimestamp" not in _metadata(facts):
        return "Running"
    return "Succeeded" if all(end.exit_code == 0 for end in ends) else "Failed"


def initialized(facts: Facts) -> bool:
    """Return whether every init container has done its work, or as a sidecar is up."""
    sidecars = {item["name"] for item in facts.pod["spec"].get("initContainers", []) if is_sidecar(item)}
    return all(
        container.started or container.restarts > 0
        if container.name in sidecars
        else isinstance(container.state, Terminated) and container.state.exit_code == 0
        for container in facts.init
    )


def is_sidecar(container: Json) -> bool:
    """Return whether an init container keeps running beside the others."""
    return container.get("restartPolicy") == "Always"


def _metadata(facts: Facts) -> Json:
    return facts.pod["metadata"]


def _pairs(facts: Facts) -> list[tuple[Terminated | None, Container]]:
    return [(container.outcome, container) for container in facts.containers]


def _gave_up(container: Container, policy: str) -> bool:
    end = container.state
    return policy == "Never" and isinstance(end, Terminated) and end.exit_code != 0


def _conditions(facts: Facts, phase: str, before: dict[str, Json]) -> list[Json]:
    done = phase in {"Succeeded", "Failed"}
    reason = {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(phase, "ContainersNotReady")
    waiting = [container.name for container in facts.init if not isinstance(container.state, (Running, Terminated))]
    unready = [container.name for container in facts.containers if not container.ready]
    ready = not done and not unready and initialized(facts)
    gates = [gate["conditionType"] for gate in facts.pod["spec"].get("readinessGates", [])]
    closed = [gate for gate in gates if before.get(gate, {}).get("status") != "True"]
    unready_message = "" if done else f"containers with unready status: [{' '.join(unready)}]"
    init_message = f"containers with incomplete status: [{' '.join(waiting)}]" if waiting else ""
    if ready and closed:
        pod_reason, pod_message = "ReadinessGatesNotReady", f"readiness gates not true: {' '.join(closed)}"
    else:
        pod_reason, pod_message = reason, unready_message
    return [
        _condition("PodReadyToStartContainers", facts.sandboxed and not done),
        _condition("Initialized", initialized(facts), "ContainersNotInitialized", init_message),
        _condition("ContainersReady", ready, reason, unready_message),
        _condition("Ready", ready and not closed, pod_reason, pod_message),
    ]


def _condition(kind: str, holds: bool, reason: str = "", message: str = "") -> Json:
    return {
        "type": kind,
        "status": "True" if holds else "False",
        "reason": None if holds else reason or None,
        "message": None if holds else message or None,
    }


def _since(condition: Json, before: Json | None, now: datetime) -> str:
    if before and before.get("status") == condition["status"] and "lastTransitionTime" in before:
        return before["lastTransitionTime"]
    return timestamp(now)
