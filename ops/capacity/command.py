"""The `flotilla capacity` command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from infra.paths import VALUES
from ops.console import err, out


def capacity(
    environment: Annotated[str, typer.Argument(metavar="ENV", help="An environment: a file in values/.")],
    job: Annotated[
        list[Path] | None,
        typer.Option("--job", metavar="FILE", help="Also judge the job in this manifest; may be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    values: Annotated[
        Path, typer.Option("--values", metavar="DIR", help="Folder of the values files.", show_default="values/")
    ] = VALUES,
) -> None:
    """Add up an environment: pools against quotas, the largest jobs, the loss of a zone, and costs a month.

    Works from the settings alone, without a cluster. Exits with 1 when a job given with --job could never run.
    """
    from infra.settings import load
    from infra.settings.capacity.report import report
    from ops.capacity import export, tables
    from ops.capacity.manifest import read

    asked = [each for path in job or () for each in read(path)]
    settings = load(environment, values)
    found = report(settings, asked)
    if as_json:
        out.print(json.dumps(export.document(found), indent=2, ensure_ascii=False), markup=False)
    else:
        tables.show(out, found)
    for warning in export.warnings(found):
        err.print(f"warning: {warning}", markup=False)
    if any(line.obstacles for line in found.jobs if line.job in asked):
        raise typer.Exit(1)
