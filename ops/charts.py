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
        pinned = source.digest or "pinned by version only"
        out.print(f"{source}  {source.repository}  {pinned}", markup=False)


@app.command()
def fetch() -> None:
    """Fetch and check every chart that has a digest, for work offline."""
    from infra.chart_sources import ALL
    from infra.core import chart_archive
    from infra.paths import STATE

    folder = STATE / "charts"
    for source in ALL:
        if source.digest:
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
) -> None:
    """Print the pin of a chart's version, for infra/chart_sources.py."""
    from infra.core import chart_archive
    from infra.core.chart import ChartSource

    source = ChartSource(repository=repository, chart=chart, version=version)
    digest = chart_archive.published(source)
    if digest is None:
        raise FlotillaError(
            "the repository lists no digest", where=str(source), remedy=f"Hash {source.archive} yourself: sha256sum"
        )
    lines = (f'{key}="{value}",' for key, value in zip(_KEYS, (repository, chart, version, digest), strict=True))
    body = "".join(f"    {line}\n" for line in lines)
    typer.echo(f"ChartSource(\n{body})")


_KEYS = ("repository", "chart", "version", "digest")
