"""What the doctor reports."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.doctor.check import Group, Status


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check found of a subject.

    Args:
        check: name of the check.
        group: what `--only` chooses it by.
        subject: what it concerns: where the settings declare it, and the server.
        status: how bad it is.
        what: what was seen.
        why: why it matters; None where all is well.
        run: what to do; None where there is nothing to do.
    """

    check: str
    group: Group
    subject: str
    status: Status
    what: str
    why: str | None = None
    run: str | None = None


def counts(findings: Iterable[Finding]) -> dict[Status, int]:
    """Return how many findings there are of each status, the worst first."""
    found = Counter(finding.status for finding in findings)
    return {status: found[status] for status in ("fail", "warn", "skipped", "ok")}
