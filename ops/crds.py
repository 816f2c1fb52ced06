"""The `flotilla crds` commands: look at, fetch, compare and pin the schemas of custom resources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infra.errors import FlotillaError
from ops.console import err, out

if TYPE_CHECKING:
    from infra.core.crds.changes import Change
    from infra.core.crds.compare import Comparison
    from infra.core.crds.pins import CrdSource

app = typer.Typer(no_args_is_help=True, help="Schemas of custom resources: pinned, fetched, compared.")

_VALUE_WIDTH = 60
_SHOWN = 20


@app.command("list")
def list_() -> None:
    """List the pinned bundles and their CRDs."""
    from infra.core.crds.sources import is_cached
    from infra.crd_sources import ALL

    for source in ALL:
        state = "cached" if is_cached(source) else "not fetched yet"
        out.print(f"{source}  {_count(len(source.crds))}, {state}", markup=False)
        for name in sorted(source.crds):
            out.print(f"  {name}", markup=False)


@app.command()
def fetch() -> None:
    """Fetch and verify every bundle, for work offline."""
    from infra.core.crds.sources import manifests
    from infra.crd_sources import ALL
    from infra.paths import cache_dir

    for source in ALL:
        fetched = manifests(source)
        out.print(f"{source}  {_count(len(fetched))} verified", markup=False)
    err.print(f"cached in {cache_dir() / 'crds'}", markup=False)


@app.command()
def diff(
    environment: Annotated[str, typer.Argument(metavar="ENV", help="Environment, for example local.")],
    every: Annotated[
        bool, typer.Option("--all", help=f"Show all fields, not just the first {_SHOWN} of a CRD.")
    ] = False,
    context: Annotated[
        str | None, typer.Option("--context", help="Context of the kubeconfig; the stack's own by default.")
    ] = None,
) -> None:
    """Show what `up` would change in an environment's CRDs, field by field."""
    from infra.core.crds.cluster import Cluster
    from infra.core.crds.compare import compare
    from ops.stack_config import named_context

    context = context or named_context(environment)
    found: list[Comparison] = []
    with Cluster(context) as cluster:
        for properties in _bundles(environment, context):
            compared = compare(cluster, properties)
            found += compared
            for comparison in compared:
                _show(comparison, properties["bundle"], None if every else _SHOWN)
    same = sum(item.exists and item.wanted and not item.changes for item in found)
    parts = {
        "as declared": same,
        "to create": sum(not item.exists for item in found),
        "to change": sum(bool(item.changes) for item in found),
        "to remove": sum(not item.wanted for item in found),
    }
    err.print(", ".join(f"{count} {what}" for what, count in parts.items() if count), markup=False)


@app.command()
def pin(
    module: Annotated[str, typer.Argument(help="Go module path, for example istio.io/api.")],
    version: Annotated[str, typer.Argument(help="Its version, for example v1.30.1.")],
    path: Annotated[
        list[str] | None,
        typer.Option(
            help="Pattern of the files with CRDs, for example 'config/crd/*.yaml'; may be repeated. "
            "Known modules need none."
        ),
    ] = None,
) -> None:
    """Print the pins of a module version, for infra/crd_sources.py."""
    import httpx

    from infra.core.crds.checksums import DATABASE, check_published
    from infra.core.crds.gosum import hash1
    from infra.core.crds.module_proxy import module_zip
    from infra.core.crds.pins import CrdSource, fingerprint
    from infra.core.crds.sources import read_crds

    paths = tuple(path or _known_paths(module))
    with (
        httpx.Client(timeout=30, follow_redirects=True) as client,
        module_zip(module, version, h1=None, client=client) as archive,
    ):
        h1 = hash1(archive)
        if not check_published(module, version, h1, client=client):
            err.print(f"warning: {DATABASE} is out of reach: compare the h1 with a go.sum you trust")
        crds = read_crds(archive, paths, where=f"{module}@{version}")
    pins = {name: fingerprint(crd) for name, crd in sorted(crds.items())}
    typer.echo(_source_text(CrdSource(module=module, version=version, h1=h1, paths=paths, crds=pins)), nl=False)


def _known_paths(module: str) -> tuple[str, ...]:
    from infra.crd_sources import ALL

    for source in ALL:
        if source.module == module:
            return source.paths
    raise FlotillaError(
        "no bundle of this module is known, so where its CRDs lie is not either",
        where=module,
        remedy="Give the files' pattern: --path 'config/crd/bases/*.yaml'",
    )


def _source_text(source: CrdSource) -> str:
    """Return the Python expression that declares a source, formatted as the catalogue is."""
    lines = ["CrdSource("]
    lines += [f"    {key}={json.dumps(getattr(source, key))}," for key in ("module", "version", "h1")]
    lines.append(f"    paths=({', '.join(map(json.dumps, source.paths))},),")
    lines += [
        "    crds={",
        *(f'        "{name}": "{pin}",' for name, pin in source.crds.items()),
        "    },",
        ")",
    ]
    return "\n".join(lines) + "\n"


def _bundles(environment: str, context: str) -> Iterator[dict[str, Any]]:
    """Yield the inputs of each bundle that the environment declares."""
    from infra.settings import load
    from ops.manifests import render

    for bundle in render(load(environment)).bundles.values():
        yield {**bundle, "context": context}


def _show(comparison: Comparison, bundle: str, limit: int | None) -> None:
    if not comparison.exists:
        out.print(f"+ {comparison.name}  ({bundle}) would be created", markup=False)
    elif not comparison.wanted:
        out.print(f"- {comparison.name}  ({bundle}) would be removed", markup=False)
    elif comparison.changes:
        out.print(f"~ {comparison.name}  ({bundle})", markup=False)
        for change in comparison.changes[:limit]:
            out.print(f"    {_line(change)}", markup=False)
        if limit and (more := len(comparison.changes) - limit) > 0:
            out.print(f"    … and {more} more; --all shows them", markup=False)


def _line(change: Change) -> str:
    from infra.core.crds.changes import Absent

    if isinstance(change.before, Absent):
        return f"+ {change.path}: {_short(change.after)}"
    if isinstance(change.after, Absent):
        return f"- {change.path}: {_short(change.before)}"
    return f"~ {change.path}: {_short(change.before)} → {_short(change.after)}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _VALUE_WIDTH else text[: _VALUE_WIDTH - 1] + "…"


def _count(crds: int) -> str:
    return f"{crds} CRD" if crds == 1 else f"{crds} CRDs"
