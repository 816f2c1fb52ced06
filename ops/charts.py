"""The `flotilla charts` commands: look at, fetch and pin the Helm charts that Flotilla can install."""

from __future__ import annotations

from typing import Annotated

import typer

from infra.errors import FlotillaError
from ops.console import err, out

app = typer.Typer(no_args_is_help=True, help="Helm charts of operators and drivers: pinned, fetched, checked.")


@app.command("list")
def list_() -> None:
    """List the pinned charts, and which of them are pinned by version only."""
    from infra.chart_sources import ALL

    for source in ALL:
        origin = f"{source.module}/{source.module.folder}" if source.module else source.repository
        out.print(f"{source}  {origin}  {source.pin or 'pinned by version only'}", markup=False)


@app.command()
def fetch() -> None:
    """Fetch and check every chart that is pinned by its content, for work offline."""
    from infra.chart_sources import ALL
    from infra.core import chart_archive
    from infra.paths import STATE

    folder = STATE / "charts"
    for source in ALL:
        if source.pin:
            out.print(f"{source}  {chart_archive.fetch(source, folder).name} verified", markup=False)
        else:
            err.print(f"{source}  not fetched: no digest is pinned to check it against", markup=False)


@app.command()
def pin(
    repository: Annotated[
        str, typer.Argument(help="Address of the repository, such as https://strimzi.io/charts or oci://…")
    ],
    chart: Annotated[str, typer.Argument(help="Name of the chart in it.")],
    version: Annotated[str, typer.Argument(help="Version of the chart.")],
    module: Annotated[
        str | None, typer.Option(help="Go module that ships the chart, such as sigs.k8s.io/kueue@v0.15.0.")
    ] = None,
    folder: Annotated[str, typer.Option(help="The chart's folder in that module.")] = "charts/CHART",
) -> None:
    """Print the pin of a chart's version, for infra/chart_sources.py."""
    from infra.core import chart_archive
    from infra.core.chart_source import ChartSource

    if module:
        _pin_module(repository, chart, version, module, folder.replace("CHART", chart))
        return
    source = ChartSource(repository=repository, chart=chart, version=version)
    digest = chart_archive.published(source)
    if digest is None:
        raise FlotillaError(
            "the repository lists no digest", where=str(source), remedy=f"Hash {source.archive} yourself: sha256sum"
        )
    lines = (f'{key}="{value}",' for key, value in zip(_KEYS, (repository, chart, version, digest), strict=True))
    body = "".join(f"    {line}\n" for line in lines)
    typer.echo(f"ChartSource(\n{body})")


def _pin_module(repository: str, chart: str, version: str, module: str, folder: str) -> None:
    from infra.core.chart_module import described

    path, at, released = module.partition("@")
    if not at:
        raise FlotillaError("names no version", where=f"--module {module}", remedy=f"Write {module}@v{version}")
    shipped = described(chart, path, released, folder)
    fields = ((key, getattr(shipped, key)) for key in ("path", "version", "h1", "folder", "files"))
    inner = "".join(f'        {key}="{value}",\n' for key, value in fields)
    outer = "".join(f'    {key}="{value}",\n' for key, value in zip(_KEYS, (repository, chart, version), strict=False))
    typer.echo(f"ChartSource(\n{outer}    module=ChartModule(\n{inner}    ),\n)")


_KEYS = ("repository", "chart", "version", "digest")
