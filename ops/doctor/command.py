"""The `flotilla doctor` command: checks everything an environment stands on, before anything is applied to it."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infra.paths import VALUES
from ops.console import err, out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ops.doctor.examine import Examination
    from ops.doctor.finding import Finding

_CHATTY = ("kafka", "pika", "httpx", "httpcore", "urllib3", "psycopg")
"""Libraries that log what becomes a finding."""


def doctor(
    environment: Annotated[str, typer.Argument(metavar="ENV", help="Environment, for example prod-aws.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="GROUP", help="Run only checks of this group; may be repeated."),
    ] = None,
    context: Annotated[
        str | None, typer.Option("--context", help="Context of the kubeconfig; the stack's own by default.")
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, max=5, metavar="SECONDS", help="How long to wait for an answer.")
    ] = 5,
    values: Annotated[
        Path, typer.Option("--values", metavar="DIR", help="Folder of the values files.", show_default="values/")
    ] = VALUES,
) -> None:
    """Check databases, events, object store and cluster of an environment. Exits with 1 when it finds a fault.

    It makes scratch databases, topics and objects to try what the platform will do, and removes them again.
    """
    from infra.settings import load
    from ops.doctor.choose import choose, groups
    from ops.doctor.report import print_table, summary, to_json
    from ops.stack_config import named_context

    wanted = groups(only or ())
    settings = load(environment, values)
    context = context or named_context(environment)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    from ops.doctor.cluster.api import KubeApi
    from ops.doctor.plan import examinations

    planned = choose(examinations(settings, KubeApi(context, timeout), context, timeout), wanted)
    findings = _examine(environment, planned, timeout)
    if as_json:
        typer.echo(to_json(environment, findings))
    else:
        print_table(out, environment, findings)
    err.print(f"{environment}: {summary(findings)}", markup=False)
    if any(finding.status == "fail" for finding in findings):
        raise typer.Exit(1)


def _examine(environment: str, planned: Sequence[Examination], timeout: float) -> list[Finding]:
    """Run what was planned, showing how far it is."""
    from ops.doctor.examine import examine
    from ops.progress import ConsoleProgress

    total = sum(len(examination.checks) for examination in planned)
    with ConsoleProgress("checking").step(environment, 1, 1) as tell:
        return examine(planned, timeout, _Counter(total, tell))


class _Counter:
    """Counts checks and faults as they come in, from any thread."""

    def __init__(self, total: int, tell: Callable[[str], None]) -> None:
        self._total = total
        self._tell = tell
        self._lock = threading.Lock()
        self._done = self._faults = 0

    def __call__(self, findings: Sequence[Finding]) -> None:
        """Count a check's findings."""
        with self._lock:
            self._done += 1
            self._faults += sum(finding.status == "fail" for finding in findings)
            self._tell(f"{self._done} of {self._total} checks, {self._faults} faults")
