"""What of the cache no tool of this checkout comes from any more, and removing it."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from sandbox.tools import assembly, build, catalog, failures, golang, plan, store
from sandbox.tools.progress import Silent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.tools.progress import Progress

_FOLDER = re.compile(rf"(?:{re.escape(store.ASIDE)})?(?P<whole>(?P<name>[a-z][a-z-]*)-[0-9a-f]{{16}})(?:-\w+)?")
"""A folder of the cache, or what an aborted build left beside it."""


@dataclass(frozen=True)
class Stale:
    """A folder of the cache that this checkout does not use.

    Args:
        folder: where it is.
        lock: what is held while it is filled, and so while it is removed.
        user: a program that runs from it, which keeps it: `etcd (pid 12)`.
    """

    folder: Path
    lock: str
    user: str | None


@dataclass(frozen=True)
class Outcome:
    """What `prune` found.

    Args:
        removable: what nothing uses.
        kept: what this checkout does not use, but a running program does.
        freed_bytes: what removing takes off the disk; programs shared with a folder that stays take nothing off.
    """

    removable: tuple[Stale, ...]
    kept: tuple[Stale, ...]
    freed_bytes: int


def prune(*, dry_run: bool = False, progress: Progress | None = None) -> Outcome:
    """Remove what this checkout's lock files do not ask for; another checkout that does builds it again.

    Args:
        dry_run: only find out.
        progress: is told what it waits for.

    Raises:
        FlotillaError: a folder cannot be removed.
    """
    found = list(_stale())
    removable = tuple(each for each in found if each.user is None)
    outcome = Outcome(removable, tuple(each for each in found if each.user), _freed(removable))
    if not dry_run:
        for each in removable:
            try:
                with store.locked(each.lock, progress or Silent()):
                    store.remove(each.folder)
            except OSError as error:
                raise failures.cache_failed(error, each.folder) from error
    return outcome


def _stale() -> Iterable[Stale]:
    used = {build.folder_of(module) for module in catalog.MODULES}
    used |= {golang.folder(), assembly.folder_for(assembly.contents(plan.make()))}
    users = _users()
    for folder in sorted(path for path in store.root().glob("*") if path.is_dir() and path not in used):
        if named := _FOLDER.fullmatch(folder.name):
            lock = named["whole"] if named["name"] == assembly.PREFIX else named["name"]
            yield Stale(folder, lock, users.get(folder.name))


def _users() -> dict[str, str]:
    """Return a running program for each folder of the cache that one runs from, by the folder's name."""
    root = store.root().resolve()
    users: dict[str, str] = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error, ValueError):
            users[Path(process.exe()).relative_to(root).parts[0]] = f"{process.name()} (pid {process.pid})"
    return users


def _freed(doomed: Iterable[Stale]) -> int:
    facts = [path.lstat() for each in doomed for path in each.folder.rglob("*") if path.is_file()]
    links = Counter((fact.st_dev, fact.st_ino) for fact in facts)
    sizes = {(fact.st_dev, fact.st_ino): (fact.st_nlink, fact.st_size) for fact in facts}
    return sum(size for file, (linked, size) in sizes.items() if links[file] >= linked)
