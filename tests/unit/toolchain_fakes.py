"""Stand-ins for the tools of a machine and for Go: small shell scripts in a temporary folder."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sandbox.tools.catalog import Module, Tool

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_GO = """
[ "$1" = version ] && { echo "go version go__VERSION__ linux/amd64"; exit 0; }
PATH="$PATH:/usr/bin:/bin"
echo "$@" >> "__LOG__"
env > "__LOG__.env"
while [ "$1" != -o ]; do shift; done
out="$2"
shift 2
__BODY__
case "$out" in
    */) for package in "$@"; do echo "$package" > "$out${package##*/}"; chmod +x "$out${package##*/}"; done ;;
    *) echo "$1" > "$out"; chmod +x "$out" ;;
esac
"""


class Recorder:
    """Progress that remembers what it was told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.steps: list[tuple[str, int, int]] = []

    def note(self, message: str) -> None:
        self.notes.append(message)

    @contextmanager
    def step(self, title: str, index: int, total: int) -> Generator[None]:
        self.steps.append((title, index, total))
        yield


def script(path: Path, body: str) -> Path:
    """Write an executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def says(path: Path, text: str) -> Path:
    """Write a program that prints `text` whatever it is asked."""
    return script(path, f"echo '{text}'")


class FakeGo:
    """A Go whose builds write one line a tool, and which records how it was called."""

    def __init__(self, folder: Path, version: str = "1.26.8", body: str = "") -> None:
        self._log = folder / "go-calls"
        text = _GO.replace("__VERSION__", version).replace("__LOG__", str(self._log)).replace("__BODY__", body)
        self.path = script(folder / "go", text)

    @property
    def calls(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []

    @property
    def environment(self) -> dict[str, str]:
        lines = self._log.with_name("go-calls.env").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)


def module(modules: Path, name: str = "things", tools: tuple[str, ...] = ("alpha", "beta")) -> Module:
    """Write a module's folder and describe it."""
    folder = modules / name
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text(f"module x\n\ngo 1.26\n\nrequire example.org/{name} v2.5.1\n")
    (folder / "go.sum").write_text("sums\n")
    return Module(
        name=name,
        origin=f"example.org/{name}",
        tools=tuple(Tool(name=tool, package=f"example.org/{name}/{tool}", version_arguments=("-v",)) for tool in tools),
        stamps=("example.org/v.version=v{0}", "example.org/v.minor={0.minor}"),
    )
