"""What happens to pods that should run as processes where the machine does not allow it: they are simulated, and say so."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sandbox.agent.containers import Container, Running
from sandbox.agent.status import SIMULATED, Facts, pod_status

Json = dict[str, Any]


def simulated_status(pod: Json, reason: str, *, address: str, host_address: str | None) -> Json:
    """Return the status of a pod that only says it runs, with a condition that tells so and why."""
    now = datetime.now(UTC)
    names: list[Json] = pod["spec"]["containers"]
    containers = [
        replace(Container(name=item["name"], image=item["image"]), state=Running(now), started=True, ready=True)
        for item in names
    ]
    condition: Json = {
        "type": SIMULATED,
        "status": "True",
        "reason": "ProcessesImpossible",
        "message": f"no process runs for this pod: {reason}",
    }
    facts = Facts(
        pod=pod,
        address=address,
        host_address=host_address,
        started_at=now,
        containers=containers,
        extra_conditions=[condition],
    )
    return pod_status(facts, now)
