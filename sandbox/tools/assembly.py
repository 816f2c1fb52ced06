"""One folder with every program, keyed by what is in it.

The engine warns about plugins that do not lie beside it, after following symbolic links: so programs of the
cache are hard links here, and programs of this machine symbolic ones.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox.tools import store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.tools.plan import Plan
    from sandbox.tools.progress import Progress

SCRIPTS = Path(__file__).resolve().parent / "scripts"
PREFIX = "set"
_ENGINE_HELPERS = ("pulumi-language-python", "pulumi-language-python-exec", "pulumi-resource-pulumi-python")


def contents(plan: Plan) -> dict[str, Path]:
    """Return what the folder holds: path inside it to where the program comes from."""
    content: dict[str, Path] = {}
    for choice in plan.choices:
        if choice.tool.plugin:
            name = choice.tool.name
            content[f"plugins/{name.removeprefix('pulumi-')}-v{choice.module.version}/{name}"] = choice.path
        else:
            content[f"bin/{choice.tool.name}"] = choice.path
    helpers = _official_helpers(plan) or {path.name: path for path in SCRIPTS.iterdir() if path.is_file()}
    return content | {f"bin/{name}": path for name, path in helpers.items()}


def folder_for(content: Mapping[str, Path]) -> Path:
    """Return the folder for `content`: the same content always has the same one."""
    parts: list[str | bytes] = []
    for name, source in sorted(content.items()):
        parts += [name, source.read_bytes() if source.parent == SCRIPTS else str(source)]
    return store.root() / f"{PREFIX}-{store.key_of(parts)}"


def is_whole(folder: Path, content: Mapping[str, Path]) -> bool:
    """Tell whether `folder` holds all of `content`, each the same file as its source, or of its text."""
    return all(_is_same(folder / name, source) for name, source in content.items())


def assemble(content: Mapping[str, Path], progress: Progress) -> Path:
    """Make the folder for `content` unless it is there and whole; return it."""
    folder = folder_for(content)
    with store.locked(folder.name, progress):
        if not is_whole(folder, content):
            with store.filling(folder) as aside:
                for name, source in content.items():
                    _place(source, aside / name)
    return folder


def _official_helpers(plan: Plan) -> dict[str, Path]:
    """Return the official language host and its helpers if they lie beside an engine of this machine."""
    engine = next(choice for choice in plan.choices if choice.tool.name == "pulumi")
    if engine.found is None:
        return {}
    folder = engine.path.resolve().parent
    paths = {name: folder / name for name in _ENGINE_HELPERS}
    return paths if all(path.is_file() for path in paths.values()) else {}


def _place(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.parent == SCRIPTS:
        shutil.copy2(source, target)
        target.chmod(0o755)
    elif source.is_relative_to(store.root()):
        _link(source, target)
    else:
        target.symlink_to(source)


def _link(source: Path, target: Path) -> None:
    """Hard-link where the file system can, copy where it cannot."""
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)


def _is_same(path: Path, source: Path) -> bool:
    try:
        here, there = path.stat(), source.stat()
    except OSError:
        return False
    if source.parent == SCRIPTS:
        return path.read_bytes() == source.read_bytes()
    same_file = os.path.samestat(here, there)
    return same_file or (here.st_size, here.st_mtime_ns) == (there.st_size, there.st_mtime_ns)
