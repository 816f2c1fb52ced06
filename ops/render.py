"""The `flotilla render` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ops.console import err, out


def render(
    environment: Annotated[str, typer.Argument(metavar="ENV", help="An environment: a file in values/.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Where to write; rendered/ENV when left out."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Also hold the objects against the policies; exit 1 on a breach.")
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Write the files without a summary.")] = False,
) -> None:
    """Write an environment's manifests as YAML, one file per object, without a cluster."""
    from infra.settings import load
    from ops import manifests, summary, tree
    from policies import check as breaches

    folder = output or Path("rendered") / environment
    settings = load(environment)
    rendered = manifests.render(settings)
    definitions = rendered.definitions()
    tree.write(folder, [*rendered.objects, *definitions])
    if not quiet:
        summary.print_rendered(out, settings, rendered)
    err.print(f"{len(rendered.objects) + len(definitions)} files in {folder}/", markup=False)
    if check and (found := breaches(rendered.objects)):
        for breach in found:
            out.print(str(breach), markup=False)
        raise typer.Exit(1)
