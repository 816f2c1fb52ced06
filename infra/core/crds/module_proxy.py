"""Where a Go module's zip comes from: a mirror folder, else the Go module proxy; its checksum is verified."""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from infra.core.crds.gosum import hash1, zip_path
from infra.errors import FlotillaError

MIRROR = "FLOTILLA_MIRROR"
"""Environment variable that names a folder with copies of what would otherwise be downloaded."""

DEFAULT_PROXY = "https://proxy.golang.org"
_ATTEMPTS = 4
_TIMEOUT_SECONDS = 30.0
BETWEEN_ATTEMPTS = wait_random_exponential(multiplier=0.5, max=8)
"""How long to wait after each failure that may pass."""


@contextmanager
def module_zip(
    module: str, version: str, *, h1: str | None, client: httpx.Client | None = None
) -> Generator[zipfile.ZipFile]:
    """Open the zip of a Go module from `$FLOTILLA_MIRROR/go`, else from the module proxy.

    Args:
        module: module path.
        version: module version.
        h1: the hash it must have; None only when the hash itself is being found out.
        client: HTTP client to download with.

    Raises:
        FlotillaError: neither place has it, or what they have is not what was pinned.

    """
    if mirrored := _mirrored(module, version):
        with mirrored.open("rb") as file, _verified(file, str(mirrored), h1) as archive:
            yield archive
        return
    address = f"{proxy(module, version)}/{zip_path(module, version)}"
    with tempfile.TemporaryFile() as file:
        if client is None:
            with httpx.Client(timeout=_TIMEOUT_SECONDS, follow_redirects=True) as own:
                _download(own, address, file, module, version)
        else:
            _download(client, address, file, module, version)
        with _verified(file, address, h1) as archive:
            yield archive


def _mirrored(module: str, version: str) -> Path | None:
    folder = os.environ.get(MIRROR)
    if not folder:
        return None
    file = Path(folder).expanduser() / "go" / zip_path(module, version)
    return file if file.is_file() else None


def proxy(module: str, version: str) -> str:
    """Return the first HTTP entry of `GOPROXY`, else Go's default unless downloads are forbidden."""
    entries = [entry.strip() for entry in re.split("[,|]", os.environ.get("GOPROXY", ""))]
    if web := next((entry for entry in entries if entry.startswith(("http://", "https://"))), None):
        return web.rstrip("/")
    if "off" in entries:
        raise FlotillaError(
            "GOPROXY=off forbids the download", where=f"{module}@{version}", remedy=_remedy(module, version)
        )
    return DEFAULT_PROXY


def _download(client: httpx.Client, address: str, file: IO[bytes], module: str, version: str) -> None:
    attempts = Retrying(
        retry=retry_if_exception(_passing),
        stop=stop_after_attempt(_ATTEMPTS),
        wait=BETWEEN_ATTEMPTS,
        reraise=True,
    )
    try:
        attempts(_download_once, client, address, file)
    except httpx.HTTPStatusError as error:
        raise FlotillaError(
            f"{address} answered {error.response.status_code} {error.response.reason_phrase}",
            where=f"{module}@{version}",
            remedy=_remedy(module, version),
        ) from error
    except httpx.HTTPError as error:
        raise FlotillaError(
            f"cannot download {address} ({error or type(error).__name__})",
            where=f"{module}@{version}",
            remedy=_remedy(module, version),
        ) from error


def _download_once(client: httpx.Client, address: str, file: IO[bytes]) -> None:
    file.seek(0)
    file.truncate()
    with client.stream("GET", address) as response:
        response.raise_for_status()
        for chunk in response.iter_bytes():
            file.write(chunk)
    file.seek(0)


def _passing(error: BaseException) -> bool:
    """Tell failures that may pass from those that will not: a refused certificate or a 404 stays."""
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code >= 500 or error.response.status_code == 429
    return isinstance(error, httpx.TransportError) and not isinstance(error, httpx.UnsupportedProtocol)


def _remedy(module: str, version: str) -> str:
    return (
        "Set GOPROXY to a Go module proxy within reach, or set FLOTILLA_MIRROR to a folder that has the zip "
        f"at go/{zip_path(module, version)}"
    )


@contextmanager
def _verified(file: IO[bytes], origin: str, h1: str | None) -> Generator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(file)
        found = hash1(archive)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise FlotillaError(
            "not a readable zip", where=origin, remedy="Replace it with the module proxy's file"
        ) from error
    with archive:
        if h1 is not None and found != h1:
            raise FlotillaError(
                f"checksum mismatch: its hash is {found}, pinned is {h1}",
                where=origin,
                remedy="Do not use this file: get the module proxy's own, and find out who changed this one",
            )
        yield archive
