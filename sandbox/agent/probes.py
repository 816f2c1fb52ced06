"""Probe results over time: thresholds, delays and what follows from them; a state machine without any I/O."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

Json = dict[str, Any]


class Verdict(Enum):
    """What a probe's results amount to so far."""

    UNKNOWN = "unknown"
    PASSING = "passing"
    FAILING = "failing"


@dataclass(frozen=True, kw_only=True)
class ProbePlan:
    """When a probe asks, and how many equal answers in a row count.

    Args:
        initial_delay_seconds: from the container's start to the first question.
        period_seconds: from one question to the next.
        timeout_seconds: how long an answer may take.
        successes: answers in a row that make it pass.
        failures: answers in a row that make it fail.
    """

    initial_delay_seconds: float = 0
    period_seconds: float = 10
    timeout_seconds: float = 1
    successes: int = 1
    failures: int = 3


def plan(probe: Json) -> ProbePlan:
    """Return a declared probe's plan."""
    return ProbePlan(
        initial_delay_seconds=probe.get("initialDelaySeconds", 0),
        period_seconds=probe.get("periodSeconds") or 10,
        timeout_seconds=probe.get("timeoutSeconds") or 1,
        successes=probe.get("successThreshold") or 1,
        failures=probe.get("failureThreshold") or 3,
    )


@dataclass(frozen=True, kw_only=True)
class ProbeState:
    """The answers so far: the latest one, how many like it came in a row, and the verdict."""

    plan: ProbePlan
    verdict: Verdict = Verdict.UNKNOWN
    latest: bool | None = None
    in_a_row: int = 0

    def after(self, *, success: bool) -> ProbeState:
        """Return the state after one more answer."""
        count = self.in_a_row + 1 if success == self.latest else 1
        verdict = self.verdict
        if success and count >= self.plan.successes:
            verdict = Verdict.PASSING
        elif not success and count >= self.plan.failures:
            verdict = Verdict.FAILING
        return replace(self, verdict=verdict, latest=success, in_a_row=count)


def named_port(container: Json, port: int | str) -> int:
    """Return a port's number, looking a name up among the container's ports.

    Raises:
        ValueError: the container declares no such port.
    """
    if isinstance(port, int):
        return port
    for declared in container.get("ports", []):
        if declared.get("name") == port:
            return declared["containerPort"]
    if port.isdigit():
        return int(port)
    raise ValueError(f"the container has no port named {port}")
