"""Finding tools the machine already has: forced by a variable, on PATH, or in the engine's plugin cache."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infra.errors import FlotillaError
from infra.paths import cache_dir
from sandbox.tools.versions import Rule, Version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sandbox.tools.catalog import Tool

_PROBE_SECONDS = 15


@dataclass(frozen=True)
class Found:
    """A program the machine already has, of a version that fits."""

    path: Path
    version: Version | None
    forced: bool = False


def variable(tool: str) -> str:
    """Return the environment variable that forces a path for `tool`."""
    return "FLOTILLA_TOOL_" + tool.upper().replace("-", "_")


def find(tool: Tool, pinned: Version, note: Callable[[str], None]) -> Found | None:
    """Return a fitting `tool` of this machine; what does not fit is noted and skipped.

    Raises:
        FlotillaError: the tool is forced by its variable and cannot be used.
    """
    if forced := os.environ.get(variable(tool.name)):
        return _forced(tool.name, Path(forced), tool.version_arguments, tool.rule, pinned)
    if tool.plugin:
        return _cached_plugin(tool.name, pinned)
    if not tool.version_arguments:
        return None
    return on_path(tool.name, tool.version_arguments, tool.rule, pinned, note)


def on_path(
    name: str, arguments: Sequence[str], rule: Rule, pinned: Version, note: Callable[[str], None]
) -> Found | None:
    """Return the first program on PATH called `name` whose version fits."""
    for path in _candidates(name):
        version = probe(path, arguments)
        if version is None:
            note(f"{path} does not tell its version: not used")
        elif rule.fits(version, pinned):
            return Found(path, version)
        else:
            note(f"{path} is version {version}, needed is {rule.wanted(pinned)}: not used")
    return None


def forced(name: str, arguments: Sequence[str], rule: Rule, pinned: Version) -> Found | None:
    """Return the program that the variable of `name` points to, if it is set."""
    path = os.environ.get(variable(name))
    return _forced(name, Path(path), arguments, rule, pinned) if path else None


def probe(path: Path, arguments: Sequence[str]) -> Version | None:
    """Run `path` to learn its version."""
    environment = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true", "GOTOOLCHAIN": "local"}
    try:
        answer = subprocess.run(
            [path, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
            env=environment,
            cwd="/",
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return Version.find(answer.stdout) or Version.find(answer.stderr)


def _forced(name: str, path: Path, arguments: Sequence[str], rule: Rule, pinned: Version) -> Found:
    place = f"{variable(name)}={path}"
    remedy = f"Point {variable(name)} to {name} {rule.wanted(pinned)}, or unset it"
    path = path.expanduser().absolute()
    if not _is_program(path):
        raise FlotillaError("is no program that can be run", where=place, remedy=remedy)
    if not arguments:
        return Found(path, None, forced=True)
    version = probe(path, arguments)
    if version is None:
        raise FlotillaError("does not tell its version", where=place, remedy=remedy)
    if not rule.fits(version, pinned):
        raise FlotillaError(f"is version {version}", where=place, remedy=remedy)
    return Found(path, version, forced=True)


def _cached_plugin(name: str, pinned: Version) -> Found | None:
    """Return a plugin that the official engine has downloaded; the folder's name carries its version."""
    home = Path.home() / ".pulumi"
    path = home / "plugins" / f"{name.removeprefix('pulumi-')}-v{pinned}" / name
    return Found(path, pinned) if _is_program(path) else None


def _candidates(name: str) -> Iterator[Path]:
    """Yield the programs called `name` on PATH, without the ones this toolchain put there."""
    own = cache_dir() / "toolchain"
    seen: set[Path] = set()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = Path(folder or ".").absolute() / name
        if not _is_program(path) or path.is_relative_to(own) or path.resolve() in seen:
            continue
        seen.add(path.resolve())
        yield path


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
