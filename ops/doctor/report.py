"""Shows findings: a table and advice for people, JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.markup import escape

from ops.console import table
from ops.doctor.finding import counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ops.doctor.check import Status
    from ops.doctor.finding import Finding

MARKS: dict[Status, str] = {
    "ok": "[green]ok[/]",
    "warn": "[yellow]warn[/]",
    "fail": "[bold red]fail[/]",
    "skipped": "[dim]skipped[/]",
}
_WORDS: dict[Status, str] = {"fail": "faults", "warn": "warnings", "skipped": "skipped", "ok": "ok"}


def print_table(console: Console, environment: str, findings: Sequence[Finding]) -> None:
    """Print every finding as a row, then of each fault and warning why it matters and what to run."""
    rows = table(f"What {environment} stands on", "", "check", "found")
    subject = ""
    for finding in findings:
        if finding.subject != subject:
            subject = finding.subject
            rows.add_row("", f"[bold]{escape(subject)}[/]", "", end_section=False)
        rows.add_row(MARKS[finding.status], finding.check, escape(finding.what))
    console.print(rows)
    for status in ("fail", "warn"):
        for finding in findings:
            if finding.status == status:
                console.print(f"{MARKS[status]} {escape(f'{finding.subject}: {finding.what}')}")
                console.print(f"  why: {finding.why}", markup=False)
                console.print(f"  run: {finding.run}", markup=False)


def summary(findings: Sequence[Finding]) -> str:
    """Return how many findings there are of each kind, in one line."""
    return ", ".join(f"{count} {_WORDS[status]}" for status, count in counts(findings).items() if count) or "no checks"


def to_json(environment: str, findings: Sequence[Finding]) -> str:
    """Return the findings as a JSON document: `environment`, `faults` (whether there are any), `counts`, `findings`."""
    found = counts(findings)
    document = {
        "environment": environment,
        "faults": bool(found["fail"]),
        "counts": found,
        "findings": [asdict(finding) for finding in findings],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)
