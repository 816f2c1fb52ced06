"""Pods that should run as processes, on a machine that cannot: kwok simulates them, and they say so and why."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from sandbox.agent.containers import timestamp
from sandbox.agent.images import PROCESS_IMAGES, repository

Json = dict[str, Any]

SIMULATED = "flotilla.dev/Simulated"
"""Condition of a pod that could run as processes, but does not."""


def why_simulated(pod: Json, *, images: Collection[str], obstacle: str | None) -> str | None:
    """Return why a pod with process images is simulated nevertheless; None when it runs as processes.

    Args:
        pod: the pod; every container's image is a process image.
        images: those whose program is on this machine.
        obstacle: what keeps every pod on this machine from running as processes.
    """
    if obstacle:
        return obstacle
    used = {repository(container["image"]) for container in pod["spec"]["containers"]}
    tools = sorted(str(PROCESS_IMAGES[name].tool) for name in used - set(images))
    return f"missing program: {', '.join(tools)}" if tools else None


def says_simulated(pod: Json) -> bool:
    """Return whether a pod carries the condition already."""
    return any(item["type"] == SIMULATED for item in pod.get("status", {}).get("conditions", []))


def simulated_status(reason: str, now: datetime | None = None) -> Json:
    """Return the change to a pod's status that makes it say it is simulated."""
    condition = {
        "type": SIMULATED,
        "status": "True",
        "reason": "NoProcess",
        "message": f"no process runs for this pod: {reason}",
        "lastTransitionTime": timestamp(now or datetime.now(UTC)),
    }
    return {"conditions": [condition]}
