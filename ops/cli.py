"""The `flotilla` command: what people run around Pulumi."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from infra.errors import FlotillaError
from ops import charts, crds, down, env, render, sandbox, settings, toolchain, up
from ops.capacity import command as capacity
from ops.console import err
from ops.doctor import command as doctor

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
"""The exit code by which Typer, which says nothing, lets us know of Ctrl-C."""

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Flotilla: a highly available Kubeflow, declared with Pulumi and kept in sync.",
)
app.command("up")(up.up)
app.command("down")(down.down)
app.command("env")(env.env)
app.command("render")(render.render)
app.command("doctor")(doctor.doctor)
app.command("capacity")(capacity.capacity)
app.add_typer(settings.app, name="settings")
app.add_typer(crds.app, name="crds")
app.add_typer(charts.app, name="charts")
app.add_typer(sandbox.app, name="sandbox")
app.add_typer(toolchain.app, name="toolchain")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; a FlotillaError becomes one line on stderr and exit code 1, and Ctrl-C 130."""
    try:
        app(args=list(arguments) if arguments is not None else None)
    except FlotillaError as error:
        err.print("[bold red]error:[/]", end=" ")
        err.print(str(error), markup=False)
        sys.exit(1)
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            err.print("interrupted")
        raise


if __name__ == "__main__":
    main()
