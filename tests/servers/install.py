"""Programs of the servers in the per-user cache: made whole or not at all, once for all checkouts."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from infra.errors import FlotillaError
from infra.paths import cache_dir
from sandbox.tools import build, catalog, golang, store
from sandbox.tools.progress import Silent
from tests.servers.catalog import Artifact, artifacts
from tests.servers.registries import UnavailableError, fetch

if TYPE_CHECKING:
    from sandbox.tools.catalog import Module
    from sandbox.tools.progress import Progress

Files = Mapping[Artifact, Path]

_PLATFORM = ("Linux", "x86_64")
_failures: dict[str, UnavailableError] = {}


@dataclass(frozen=True, kw_only=True)
class Program:
    """A server's program, made of pinned artifacts.

    Args:
        name: its heading in the pins, and its folder's name.
        unpack: fills an empty folder from the downloaded artifacts.
        revision: to be raised when `unpack` makes something else of the same artifacts.
        needs: other headings of the pins whose artifacts it is made of, asked for when it is installed.
    """

    name: str
    unpack: Callable[[Files, Path], None]
    revision: int = 1
    needs: Callable[[], tuple[str, ...]] = tuple

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        """Everything it is made of."""
        return tuple(artifact for name in (self.name, *self.needs()) for artifact in artifacts(name))

    @property
    def folder(self) -> Path:
        """Where it lies once installed; another folder for other pins."""
        key = store.key_of([str(self.revision), *(artifact.sha256 for artifact in self.artifacts)])
        return cache_dir() / "servers" / f"{self.name}-{key}"

    @property
    def version(self) -> str:
        """Version of the artifact it is named after."""
        return self.artifacts[0].version

    @property
    def installed(self) -> bool:
        """Whether it is in the cache."""
        return self.folder.is_dir()

    def ensure(self, progress: Progress | None = None, index: int = 1, total: int = 1) -> Path:
        """Install it unless it is there; return its folder.

        Raises:
            UnavailableError: it cannot be had on this machine; what failed once is not tried again.
        """
        if self.installed:
            return self.folder
        if (platform.system(), platform.machine()) != _PLATFORM:
            raise UnavailableError(f"{self.name} is pinned for {' '.join(_PLATFORM)} only")
        if self.name in _failures:
            raise _failures[self.name]
        progress = progress or Silent()
        try:
            with store.locked(self.folder.name, progress):
                if not self.installed:
                    with progress.step(f"{self.name} {self.version}", index, total):
                        self._install()
        except UnavailableError as error:
            _failures[self.name] = error
            raise
        except OSError as error:
            raise _failures.setdefault(
                self.name, UnavailableError(f"{self.name} cannot be installed: {error}. Free some space")
            ) from error
        return self.folder

    def _install(self) -> None:
        parent = self.folder.parent
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=parent) as downloads:
            files = fetch(self.artifacts, Path(downloads))
            with store.filling(self.folder) as aside:
                self.unpack(files, aside)


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A server's program, compiled from its Go module."""

    module: Module

    @property
    def name(self) -> str:
        """Name of the module."""
        return self.module.name

    @property
    def folder(self) -> Path:
        """Where it lies once built."""
        return build.folder_of(self.module)

    @property
    def version(self) -> str:
        """Version of the module."""
        return str(self.module.version)

    @property
    def installed(self) -> bool:
        """Whether it is in the cache."""
        return build.is_built(self.module)

    def ensure(self, progress: Progress | None = None, index: int = 1, total: int = 1) -> Path:
        """Build it unless it is there; return its folder.

        Raises:
            UnavailableError: it cannot be built on this machine.
        """
        progress = progress or Silent()
        go = cache(lambda: golang.ensure_go(catalog.minimum_go(), progress))
        if self.name in _failures:
            raise _failures[self.name]
        try:
            return build.ensure_built(self.module, go, progress, index, total)
        except (FlotillaError, OSError) as error:
            raise _failures.setdefault(self.name, UnavailableError(str(error))) from error


def write_program(path: Path, script: str) -> None:
    """Write an executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def make_executable(*files: Path) -> None:
    """Let files that an archive kept no permissions for be run."""
    for file in files:
        file.chmod(file.stat().st_mode | 0o755)


def clean_environment(**variables: str) -> dict[str, str]:
    """Return an environment for servers and their tools: nothing of ours but PATH."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", **variables}
