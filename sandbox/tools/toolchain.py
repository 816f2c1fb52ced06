"""The toolchain as others use it: make sure it is there, then ask for paths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from infra.errors import FlotillaError
from sandbox.tools import assembly, build, catalog, failures, golang, plan, store
from sandbox.tools.progress import Silent

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from sandbox.tools.progress import Progress


@dataclass(frozen=True)
class Toolchain:
    """Every program the sandbox runs, in one folder.

    Args:
        folder: holds `bin`, for PATH, and `plugins`, laid out as the engine's plugin cache.
    """

    folder: Path

    @classmethod
    def ensure(cls, progress: Progress | None = None, *, wanted: Collection[str] = ()) -> Toolchain:
        """Use what fits on this machine, build what is missing, and return the whole.

        Args:
            progress: is told of each step.
            wanted: modules to have besides those that every environment needs; `catalog.ON_DEMAND` are all there are.

        Raises:
            FlotillaError: a forced tool does not fit, or a build failed; nothing half-built stays.
        """
        progress = progress or Silent()
        try:
            return cls._ensure(progress, wanted)
        except OSError as error:
            raise failures.cache_failed(error, store.root()) from error

    @classmethod
    def find(cls) -> Toolchain:
        """Return the toolchain that `ensure` has made, with what was built since; builds nothing.

        Raises:
            FlotillaError: it is not there, or not whole any more.
        """
        made = plan.make()
        for module in made.unbuilt:
            if (place := build.folder_of(module)).exists():
                fault = f"the toolchain is damaged: {build.damage(module)}"
                raise FlotillaError(fault, where=str(place), remedy="Mend it with `flotilla toolchain build`")
        content = assembly.contents(made)
        folder = assembly.folder_for(content)
        if made.unbuilt or (folder.exists() and not assembly.is_whole(folder, content)):
            raise FlotillaError("the toolchain is not built", remedy="Run `flotilla toolchain build`")
        return cls(assembly.assemble(content, Silent()))

    @property
    def bin(self) -> Path:
        """The folder for PATH: engine, language host, control plane, process images."""
        return self.folder / "bin"

    @property
    def plugins(self) -> Path:
        """Plugins in folders named as the engine's plugin cache names them."""
        return self.folder / "plugins"

    def path(self, tool: str) -> Path:
        """Return the path of `tool`.

        Raises:
            FlotillaError: the toolchain has no such tool.
        """
        path = next((path for path in (self.bin / tool, *self.plugins.glob(f"*/{tool}")) if path.exists()), None)
        if path is None:
            raise FlotillaError(f"the toolchain has no {tool}", remedy="Run `flotilla toolchain status`")
        return path

    @classmethod
    def _ensure(cls, progress: Progress, wanted: Collection[str]) -> Toolchain:
        made = plan.make(wanted)
        missing = made.unbuilt
        if missing:
            for note in made.notes:
                progress.note(note)
        go = cache(lambda: golang.ensure_go(catalog.minimum_go(), progress))
        for index, module in enumerate(missing, start=1):
            build.ensure_built(module, go, progress, index, len(missing))
        return cls(assembly.assemble(assembly.contents(made), progress))
