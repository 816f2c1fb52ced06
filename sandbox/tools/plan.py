"""Which tools this machine already has, and which modules must be built for the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.tools import build, catalog, search

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from sandbox.tools.catalog import Module, Tool
    from sandbox.tools.search import Found


@dataclass(frozen=True)
class Choice:
    """Where one tool comes from: found on this machine, or its module's folder in the cache."""

    tool: Tool
    module: Module
    found: Found | None

    @property
    def path(self) -> Path:
        """Where the program is, or will be once its module is built."""
        return self.found.path if self.found else build.folder_of(self.module) / self.tool.name

    @property
    def version(self) -> str | None:
        """Version of the program; None where a forced one does not tell."""
        if self.found is None:
            return str(self.module.version)
        return str(self.found.version) if self.found.version else None

    @property
    def source(self) -> str:
        """`built`, `found` or `forced`."""
        if self.found is None:
            return "built"
        return "forced" if self.found.forced else "found"


@dataclass(frozen=True)
class Plan:
    """The choice for every tool, and why programs of this machine were passed over."""

    choices: tuple[Choice, ...]
    notes: tuple[str, ...]

    @property
    def modules(self) -> tuple[Module, ...]:
        """Modules that some choice needs, in the catalog's order."""
        needed = {choice.module.name for choice in self.choices if choice.found is None}
        return tuple(module for module in catalog.MODULES if module.name in needed)

    @property
    def unbuilt(self) -> tuple[Module, ...]:
        """Needed modules that the cache lacks or holds damaged."""
        return tuple(module for module in self.modules if not build.is_built(module))


def make(wanted: Collection[str] = ()) -> Plan:
    """Look at this machine and choose.

    Args:
        wanted: modules to have besides those that every environment needs. One that is built already is had anyway.

    Raises:
        FlotillaError: a tool is forced by its variable and cannot be used.
    """
    notes: list[str] = []
    choices = tuple(
        Choice(tool, module, search.find(tool, module.version, notes.append))
        for module in catalog.MODULES
        if not module.on_demand or module.name in wanted or build.is_built(module)
        for tool in module.tools
    )
    return Plan(choices, tuple(notes))
