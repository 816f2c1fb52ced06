"""What the servers are made of: the artifacts of each program, pinned in `pins.txt`, and the Go modules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast

from sandbox.tools.catalog import Module, Tool

Registry = Literal["maven", "debian", "pypi"]

FOLDER = Path(__file__).resolve().parent
_PINS = FOLDER / "pins.txt"
_REPOSITORY = "https://repo.maven.apache.org/maven2"
_ARCHIVE = "https://deb.debian.org"

MINIO = Module(
    name="minio",
    origin="github.com/minio/minio",
    tools=(Tool(name="minio", package="github.com/minio/minio"),),
    parent=FOLDER / "toolchain",
)

EVENT_EXPORTER = Module(
    name="event-exporter",
    origin="github.com/open-telemetry/opentelemetry-collector-contrib/exporter/kafkaexporter",
    tools=(Tool(name="event-exporter", package="."),),
    stamps=("main.version={0}",),
    parent=FOLDER / "toolchain",
)
"""Apart from the sandbox's toolchain: there is no broker in `local`, so its exporter must not become a process."""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One file of a package registry.

    Args:
        registry: where it is published.
        name: `group:artifact` of Maven, else the package's name.
        version: its version, as the registry writes it.
        sha256: digest of the file.
        place: where Debian's archive has it, below the archive's root.
    """

    registry: Registry
    name: str
    version: str
    sha256: str
    place: str | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def file(self) -> str:
        """Name of the file, the same wherever it comes from."""
        if self.place:
            return self.place.rpartition("/")[2]
        name = self.name.rpartition(":")[2]
        return f"{name}-{self.version}.{'jar' if self.registry == 'maven' else 'whl'}"

    @property
    def address(self) -> str | None:
        """Its documented address; None where the registry has none that is made of name and version."""
        if self.registry == "maven":
            group, _, name = self.name.partition(":")
            return f"{_REPOSITORY}/{group.replace('.', '/')}/{name}/{self.version}/{self.file}"
        return f"{_ARCHIVE}/{self.place}" if self.place else None


@cache
def artifacts(program: str) -> tuple[Artifact, ...]:
    """Return the artifacts a program is made of, in the order of the pins."""
    return parse(_PINS.read_text(encoding="utf-8"))[program]


def parse(text: str) -> dict[str, tuple[Artifact, ...]]:
    """Return the artifacts of each program that a list of pins names."""
    found: dict[str, tuple[Artifact, ...]] = {}
    program = ""
    for line in text.splitlines():
        if heading := re.fullmatch(r"\[(.+)\]", line):
            program = heading[1]
            found[program] = ()
        elif line and not line.startswith("#"):
            found[program] += (_artifact(line),)
    return found


def _artifact(line: str) -> Artifact:
    registry, named, *place, sha256 = line.split()
    separator = {"maven": ":", "debian": "=", "pypi": "=="}[registry]
    name, _, version = named.rpartition(separator)
    return Artifact(
        registry=cast("Registry", registry),
        name=name,
        version=version,
        sha256=sha256,
        place=place[0] if place else None,
    )
