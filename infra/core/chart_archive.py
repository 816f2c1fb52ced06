"""A chart's archive on this machine: from a mirror, its repository or its Go module, always checked against its pin."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urljoin

import httpx

from infra.core import chart_module, chart_registry
from infra.core.crds.module_proxy import MIRROR
from infra.errors import FlotillaError
from infra.paths import STATE

if TYPE_CHECKING:
    from infra.core.chart_source import ChartSource

_TIMEOUT_SECONDS = 60.0

_locate: ContextVar[Callable[[ChartSource], str | None]] = ContextVar("_locate")


@contextmanager
def fetched(folder: Path = STATE / "charts") -> Generator[None]:
    """Have every chart declared within installed from an archive that was fetched and checked beforehand.

    Helm itself checks no digest. The archives lie in the checkout's state, so that the stack remembers a path that is
    the same for everybody. Outside of this, a chart is only declared.
    """
    token = _locate.set(lambda source: _relative(fetch(source, folder)) if source.pin else None)
    try:
        yield
    finally:
        _locate.reset(token)


def location(source: ChartSource) -> str | None:
    """Return the path of a chart's checked archive, from the program's own folder; None where Helm is to find it."""
    locate = _locate.get(None)
    return locate(source) if locate else None


def fetch(source: ChartSource, folder: Path, *, client: httpx.Client | None = None) -> Path:
    """Return the chart's archive in `folder`, fetched unless it is there already.

    It comes from the Go module that ships it where the source names one, else from `$FLOTILLA_MIRROR/charts`, else from
    the chart's repository.

    Raises:
        FlotillaError: neither place has it, or what they have is not what was pinned.
    """
    file = folder / source.archive
    if _is(file, source):
        return file
    if source.module:
        content = chart_module.pack(source.chart, source.module, client=client)
    else:
        content = _mirrored(source) or _download(source, client)
    if (actual := _digest(content, source)) != source.pin:
        raise FlotillaError(
            f"the archive is {actual}, pinned is {source.pin}",
            where=str(source),
            remedy="Somebody replaced a released chart: find out why before you pin it anew",
        )
    folder.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_bytes(content)
    new.replace(file)
    return file


def published(source: ChartSource, *, client: httpx.Client | None = None) -> str | None:
    """Return the digest of the chart's archive that its repository lists, as `sha256:` and hex.

    Raises:
        FlotillaError: the repository cannot be read, or lists no such chart.
    """
    with _reached(source, client) as reached:
        if source.oci:
            return chart_registry.archive_digest(reached, source)
        listed = _entry(reached, source).get("digest")
        return f"sha256:{listed}" if listed else None


def digest(content: bytes) -> str:
    """Return `sha256:` and the hash of an archive."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _mirrored(source: ChartSource) -> bytes | None:
    mirror = os.environ.get(MIRROR)
    file = Path(mirror).expanduser() / "charts" / source.archive if mirror else None
    return file.read_bytes() if file and file.is_file() else None


def _download(source: ChartSource, client: httpx.Client | None) -> bytes:
    with _reached(source, client) as reached:
        if source.oci:
            return chart_registry.archive(reached, source)
        address = urljoin(_index(source), _entry(reached, source)["urls"][0])
        return reached.get(address).raise_for_status().content


def _index(source: ChartSource) -> str:
    return f"{source.repository.rstrip('/')}/index.yaml"


def _entry(client: httpx.Client, source: ChartSource) -> dict[str, Any]:
    """Return what the repository's index says of the chart's version."""
    import yaml

    address = _index(source)
    content = client.get(address).raise_for_status().content
    try:
        parsed = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - safe
    except yaml.YAMLError as error:
        raise FlotillaError("the index is not readable as YAML", where=address, remedy="Correct the address") from error
    index = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
    versions: list[dict[str, Any]] = index.get("entries", {}).get(source.chart, [])
    for entry in versions:
        if str(entry.get("version")) == source.version:
            return entry
    newest = ", ".join(str(entry.get("version")) for entry in versions[:3]) or "no chart of this name"
    raise FlotillaError(f"the repository does not list {source}", where=address, remedy=f"It has {newest}")


@contextmanager
def _reached(source: ChartSource, client: httpx.Client | None) -> Generator[httpx.Client]:
    """Yield a client; what goes wrong with it becomes an error that says what to do."""
    try:
        if client is None:
            with httpx.Client(timeout=_TIMEOUT_SECONDS, follow_redirects=True) as own:
                yield own
        else:
            yield client
    except httpx.HTTPError as error:
        answered = isinstance(error, httpx.HTTPStatusError)
        reason = f"the answer was {error.response.status_code}" if answered else str(error) or type(error).__name__
        raise FlotillaError(
            f"cannot download {source} ({reason})",
            where=str(error.request.url) if answered else source.repository,
            remedy=f"Put {source.archive} into the folder charts of ${MIRROR}, or let this machine reach the address",
        ) from error


def _digest(content: bytes, source: ChartSource) -> str:
    """Return what an archive's pin is compared with: packed here, its files count and not how they were compressed."""
    return chart_module.files_digest(content) if source.module else digest(content)


def _is(file: Path, source: ChartSource) -> bool:
    try:
        return _digest(file.read_bytes(), source) == source.pin
    except OSError:
        return False


def _relative(file: Path) -> str:
    """Return the file's path from the folder that the engine runs both the program and its providers in."""
    return os.path.relpath(file)
