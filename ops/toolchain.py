"""The `flotilla toolchain` commands."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ops.console import err, out

app = typer.Typer(
    no_args_is_help=True,
    help=(
        "The engine, control plane and controllers: from PATH where they fit, else built once per user. "
        "FLOTILLA_TOOL_<NAME>=PATH forces one (FLOTILLA_TOOL_KUBECTL, FLOTILLA_TOOL_GO ...); FLOTILLA_CACHE moves the "
        "cache."
    ),
)


@app.command()
def build() -> None:
    """Build what is missing, into the per-user cache; what only some environments need, too."""
    from ops.progress import ConsoleProgress
    from sandbox.tools import Toolchain, catalog

    toolchain = Toolchain.ensure(ConsoleProgress("building"), wanted=catalog.ON_DEMAND)
    err.print(f"toolchain ready: {toolchain.bin}", markup=False)


@app.command()
def status(
    verify: Annotated[bool, typer.Option("--verify", help="Compare every built file with its digest.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show where each tool comes from; exits with 1 when one is missing or damaged."""
    from rich.table import Table

    from sandbox.tools.status import read

    current = read(thorough=verify)
    if as_json:
        rows = [row.as_json() for row in current.rows]
        out.print_json(json.dumps({"ok": current.ok, "tools": rows, "notes": current.notes}))
    else:
        table = Table("tool", "version", "source", "state", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for row in current.rows:
            source = f"built with Go {row.go}" if row.go else row.source
            table.add_row(row.tool, row.version or "unknown", source, row.state)
        out.print(table)
        for note in current.notes:
            err.print(f"note: {note}", markup=False)
    if not current.ok:
        err.print("some tools are missing or damaged: run `flotilla toolchain build`")
        raise typer.Exit(1)


@app.command()
def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would go, and remove nothing.")] = False,
) -> None:
    """Remove from the cache what this checkout's lock files no longer ask for.

    The cache is shared: a checkout of another version builds again what it misses. What a running program needs stays.
    """
    from ops.progress import ConsoleProgress
    from sandbox.tools.prune import prune as remove

    outcome = remove(dry_run=dry_run, progress=ConsoleProgress("removing"))
    for each in outcome.removable:
        out.print(str(each.folder), markup=False)
    for each in outcome.kept:
        err.print(f"note: {each.folder} stays: {each.user} runs from it", markup=False)
    count, did = len(outcome.removable), "would be removed" if dry_run else "removed"
    size = f"{outcome.freed_bytes / 2**20:.0f} MiB"
    err.print(f"{count} folder{'s' * (count != 1)}, {size}: {did}" if count else "nothing to remove", markup=False)


@app.command()
def path(
    tool: Annotated[str | None, typer.Argument(help="A tool's name; without it, the folder.")] = None,
) -> None:
    """Print the path of a tool, or of the folder that holds them all."""
    from sandbox.tools import Toolchain

    toolchain = Toolchain.find()
    typer.echo(toolchain.path(tool) if tool else toolchain.bin)
