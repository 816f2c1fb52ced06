"""Runs checks: targets side by side, the checks of one target in order, none longer than its timeout."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ops.doctor.check import Verdict, fail, skip
from ops.doctor.finding import Finding
from ops.doctor.secret import redact

if TYPE_CHECKING:
    from ops.doctor.check import Check, Probe

LONGEST_TIMEOUT_SECONDS = 5.0
"""What one answer may take at most; nobody waits longer for a firewall that drops packets."""

Tell: TypeAlias = Callable[[Sequence[Finding]], None]
"""Is told what each check found, from any thread."""


@dataclass(frozen=True, kw_only=True)
class Examination:
    """A target and its checks, in order.

    Args:
        probe: what the checks share.
        checks: what is looked at; those that others need come first.
    """

    probe: Probe
    checks: tuple[Check[Any], ...]


def examine(examinations: Sequence[Examination], timeout: float, tell: Tell) -> list[Finding]:
    """Return what all checks find, in the examinations' order.

    Args:
        examinations: what to check; all run at once.
        timeout: seconds one answer may take.
        tell: is told what each check found as soon as it did.
    """
    if not examinations:
        return []
    with ThreadPoolExecutor(max_workers=len(examinations), thread_name_prefix="doctor") as pool:
        found = pool.map(lambda examination: _examine(examination, timeout, tell), examinations)
        return [finding for findings in found for finding in findings]


def _examine(examination: Examination, timeout: float, tell: Tell) -> list[Finding]:
    """Run one target's checks in order; what needs a check that failed is skipped."""
    probe = examination.probe
    findings: list[Finding] = []
    broken: dict[str, str] = {}
    silent: str | None = None
    for check in examination.checks:
        cause = silent or next((broken[name] for name in check.needs if name in broken), None)
        if cause:
            verdicts = [skip(f"needs {cause}, which failed")]
        else:
            answer = _look(check, probe, timeout * check.waits)
            verdicts = [_silence(timeout)] if answer is None else answer or [skip("there is nothing to look at")]
            silent = check.name if answer is None else None
        if cause or _failed(verdicts):
            broken[check.name] = cause or check.name
        told = [_finding(check, probe, verdict) for verdict in verdicts]
        findings += told
        tell(told)
    _within(lambda: _close(probe), timeout)
    return findings


def _close(probe: Probe) -> None:
    """Close a target's connections; one that is broken has been reported already."""
    with contextlib.suppress(Exception):
        probe.close()


def _failed(verdicts: Sequence[Verdict]) -> bool:
    """Return whether a check leaves nothing for others to build on: no part of what it looked at was well."""
    states = {verdict.status for verdict in verdicts}
    return "fail" in states and "ok" not in states


def _look(check: Check[Any], probe: Probe, seconds: float) -> list[Verdict] | None:
    """Return what a check saw, None when it took longer than that."""
    seen: list[Verdict] = []

    def look() -> None:
        try:
            seen.extend(check.look(probe))
        except Exception as error:  # whatever a client raises becomes a finding
            seen.append(probe.explain(error) or _unexpected(error))

    return seen if _within(look, seconds) else None


def _within(work: Callable[[], None], seconds: float) -> bool:
    """Return whether work ended in time. A thread that did not is left behind: it ends with its own timeouts."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()


def _silence(timeout: float) -> Verdict:
    return fail(
        f"no answer within {timeout:g} s",
        why="What does not answer now will not answer the platform either; the checks that follow were left out.",
        run="Look for a firewall on the way, and at the server's load and log",
    )


def _unexpected(error: Exception) -> Verdict:
    text = " ".join(str(error).split())
    return fail(
        f"an answer nobody expected ({type(error).__name__}{f': {text}' if text else ''})",
        run="Look at the server's log; if it is well, report this finding",
    )


def _finding(check: Check[Any], probe: Probe, verdict: Verdict) -> Finding:
    well = verdict.status in ("ok", "skipped")
    return Finding(
        check=check.name,
        group=check.group,
        subject=verdict.subject or probe.subject,
        status=verdict.status,
        what=redact(verdict.what, probe.secrets),
        why=None if well else verdict.why or check.why,
        run=None if well else redact(verdict.run or check.run, probe.secrets),
    )
