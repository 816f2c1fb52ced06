"""Folders whose files change all at once, as Secret and ConfigMap volumes do."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_DATA = "..data"


@dataclass(frozen=True)
class File:
    """A file of a volume."""

    content: bytes
    mode: int = 0o644


def read(folder: Path) -> dict[str, File]:
    """Return the files the folder shows now."""
    data = folder / _DATA
    if not data.is_dir():
        return {}
    return {
        str(path.relative_to(data)): File(path.read_bytes(), path.stat().st_mode & 0o7777)
        for path in data.rglob("*")
        if path.is_file()
    }


def write(folder: Path, files: Mapping[str, File], *, group: int | None = None) -> bool:
    """Make the folder show exactly these files; return whether anything changed.

    A reader sees all old files or all new ones: the visible names are links through one that is replaced.

    Args:
        folder: the volume; it must exist.
        files: by path relative to the folder.
        group: the group that owns the files; None leaves them to whoever runs this.
    """
    if (folder / _DATA).is_dir() and read(folder) == files:
        return False
    fresh = Path(tempfile.mkdtemp(prefix="..", dir=folder))
    fresh.chmod(0o755)
    for name, file in files.items():
        path = fresh / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        if group is not None:
            os.chown(path, -1, group)
        path.chmod(file.mode)
    previous = (folder / _DATA).resolve() if (folder / _DATA).is_symlink() else None
    pointer = folder / f"{fresh.name}.link"
    pointer.symlink_to(fresh.name)
    pointer.replace(folder / _DATA)
    _link_names(folder, {Path(name).parts[0] for name in files})
    if previous:
        shutil.rmtree(previous, ignore_errors=True)
    return True


def _link_names(folder: Path, names: set[str]) -> None:
    for path in folder.iterdir():
        if not path.name.startswith("..") and path.name not in names:
            path.unlink()
    for name in names:
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"{_DATA}/{name}")
