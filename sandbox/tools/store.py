"""Folders of the cache: filled aside, moved in whole, with a manifest that tells when they are damaged."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from filelock import FileLock, Timeout

from infra.paths import cache_dir

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from sandbox.tools.progress import Progress

_MANIFEST = "manifest.json"
ASIDE = ".new-"
"""How the names of folders begin that are being filled or removed."""


def root() -> Path:
    """Return the toolchain's part of the cache."""
    return cache_dir() / "toolchain"


def key_of(parts: Iterable[str | bytes]) -> str:
    """Return a short key for content made of `parts` on this platform."""
    digest = hashlib.sha256()
    for part in (platform.system(), platform.machine(), *parts):
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()[:16]


@contextmanager
def locked(name: str, progress: Progress) -> Generator[None]:
    """Hold the lock `name`, so that one process at a time fills a folder."""
    path = root() / "locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0.5)
    except Timeout:
        progress.note(f"waiting for another flotilla that is preparing {name}")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def filling(folder: Path) -> Generator[Path]:
    """Give an empty folder beside `folder`; it takes that place only when the block ends well."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    prefix = f"{ASIDE}{folder.name}-"
    for abandoned in folder.parent.glob(f"{prefix}*"):
        shutil.rmtree(abandoned, ignore_errors=True)
    aside = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent))
    try:
        aside.chmod(0o755)
        yield aside
        _replace(aside, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def remove(folder: Path) -> None:
    """Remove a folder, which is gone at once, so that nobody finds half of it; or one that was left aside."""
    aside = folder
    if not folder.name.startswith(ASIDE):
        aside = Path(tempfile.mkdtemp(prefix=f"{ASIDE}{folder.name}-", dir=folder.parent))
        folder.replace(aside / "old")
    shutil.rmtree(aside)


def describe(folder: Path, facts: dict[str, str]) -> None:
    """Write the manifest of a filled folder: `facts`, and size and digest of every file."""
    files = {
        path.name: {"size": path.stat().st_size, "sha256": _digest(path)}
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != _MANIFEST
    }
    text = json.dumps({**facts, "files": files}, indent=2)
    (folder / _MANIFEST).write_text(text + "\n", encoding="utf-8")


def facts_of(folder: Path) -> dict[str, str]:
    """Return what the manifest of a whole folder tells besides its files."""
    manifest = _manifest(folder) or {}
    return {key: value for key, value in manifest.items() if isinstance(value, str)}


def damage(folder: Path, names: Iterable[str], *, thorough: bool = False) -> str | None:
    """Return what is wrong with a folder that should hold `names`, or None.

    Sizes are always compared; digests when `thorough`.
    """
    manifest = _manifest(folder)
    if manifest is None:
        return "its manifest is missing or unreadable"
    recorded = cast("dict[str, dict[str, int | str]]", manifest["files"])
    for name in names:
        path, expected = folder / name, recorded.get(name)
        if expected is None or not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != expected["size"]:
            return f"{name} has {path.stat().st_size} bytes instead of {expected['size']}"
        if thorough and _digest(path) != expected["sha256"]:
            return f"the content of {name} has changed"
    return None


def _manifest(folder: Path) -> dict[str, object] | None:
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        return None
    return cast("dict[str, object]", manifest)


def _replace(aside: Path, folder: Path) -> None:
    """Move `aside` to `folder`; what was there before goes away."""
    if folder.exists():
        old = Path(tempfile.mkdtemp(prefix=f"{ASIDE}{folder.name}-", dir=folder.parent))
        folder.replace(old / "old")
        aside.replace(folder)
        shutil.rmtree(old, ignore_errors=True)
    else:
        aside.replace(folder)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
