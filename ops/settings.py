"""The `flotilla settings` commands: look at an environment's values, and check them."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infra.errors import FlotillaError
from infra.paths import ROOT, VALUES
from ops.console import err, out

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = VALUES / "schema.json"
REFERENCE = ROOT / "docs" / "reference" / "settings.md"

app = typer.Typer(no_args_is_help=True, help="Show and check the values of environments.")

Values = Annotated[
    Path, typer.Option("--values", metavar="DIR", help="Folder of the values files.", show_default="values/")
]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; fail if the file is out of date.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there instead.")]


@app.command()
def show(
    environment: Annotated[str, typer.Argument(metavar="ENV", help="Name of the environment.")],
    origin: Annotated[bool, typer.Option("--origin", help="Name file and line of each value.")] = False,
    values: Values = VALUES,
) -> None:
    """Print an environment's merged values as YAML."""
    from infra.settings.load import load_with_origins
    from infra.settings.show import render

    out.print(render(load_with_origins(environment, values), origin=origin), end="", markup=False)


@app.command()
def check(
    environments: Annotated[list[str] | None, typer.Argument(metavar="ENV...", help="Environments.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Check every environment.")] = False,
    values: Values = VALUES,
) -> None:
    """Report every problem in the values of environments, and warn of what is valid and yet hardly meant."""
    from infra.settings import environments as known
    from infra.settings.advice import advise
    from infra.settings.load import load_with_origins
    from infra.settings.problems import SettingsError

    if every == bool(environments):
        raise FlotillaError("name environments or say --all", remedy="Write one of the two")
    names = known(values) if every else list(dict.fromkeys(environments or ()))
    failed = 0
    for name in names:
        try:
            loaded = load_with_origins(name, values)
        except SettingsError as error:
            failed += 1
            err.print(f"error: {error}", markup=False)
            continue
        for problem in advise(loaded):
            err.print(f"warning: {problem}", markup=False)
    count = f"{len(names)} environment{'s' * (len(names) != 1)}"
    if failed:
        err.print(f"{count} checked, {failed} with problems", markup=False)
        raise typer.Exit(1)
    out.print(f"{count} checked, no problems: {', '.join(names)}", markup=False)


@app.command()
def schema(check: Check = False, output: Output = None) -> None:
    """Write the JSON schema that editors check and complete values files by."""
    from infra.settings.schema import render_schema

    _generate(render_schema, output or SCHEMA, "flotilla settings schema", check=check)


@app.command()
def reference(check: Check = False, output: Output = None) -> None:
    """Write the reference page of all settings."""
    from infra.settings.load import base_values
    from infra.settings.reference import render_reference

    _generate(
        lambda: render_reference(base_values()),
        output or REFERENCE,
        "flotilla settings reference",
        check=check,
    )


def _generate(render: Callable[[], str], path: Path, command: str, *, check: bool) -> None:
    """Write a generated file, or only compare it."""
    text = render()
    place = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
    if check:
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            raise FlotillaError("is out of date", where=place, remedy=f"Run {command} and commit the result")
        out.print(f"{place} is up to date", markup=False)
        return
    fresh = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise FlotillaError(
            f"cannot be written: {error.strerror}", where=place, remedy="Choose another with -o"
        ) from None
    out.print(f"wrote {place}", markup=False)
