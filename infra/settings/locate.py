"""Finds the file and line of a key, given its path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from infra.settings.tree import Items, Leaf, Map, Origin, Tree

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and indexes from the root of the values."""

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")

KEY_ITSELF = "[key]"
"""What pydantic ends a path with where a map's key is wrong, rather than its value."""


@dataclass(frozen=True)
class Place:
    """Where a key is set, or would have to be.

    Args:
        origin: file and line of the key, or of the innermost map that lacks it.
        dotted: the key's path as messages write it: `teams[0].quota.gpus`.
        found: whether the key is there.

    """

    origin: Origin
    dotted: str
    found: bool


def locate(tree: Tree, path: KeyPath, *, missing: bool = False) -> Place:
    """Walk a path from the root of the values.

    Parts that are not in the tree are skipped: pydantic puts the name of a union's member between two keys. So is one
    that is called as a key whose value has no keys of its own, although more parts follow.

    Args:
        tree: where to walk.
        path: keys and indexes.
        missing: whether the last part is known to be missing, and so belongs to the dotted path all the same.

    """
    if path and path[-1] == KEY_ITSELF:
        path = path[:-1]
    dotted, found = "", True
    for number, part in enumerate(path, start=1):
        last = number == len(path)
        child = _child(tree, part)
        if isinstance(child, Leaf) and not last:
            child = None
        found = child is not None
        if found or (missing and last):
            dotted = join(dotted, part)
        tree = child or tree
    return Place(tree.origin, dotted, found)


def join(path: str, part: str | int) -> str:
    """Append a key or an index to a dotted path."""
    if isinstance(part, int):
        return f"{path}[{part}]"
    if not _PLAIN_KEY.fullmatch(part):
        return f"{path}[{part!r}]"
    return f"{path}.{part}" if path else part


def _child(tree: Tree, part: str | int) -> Tree | None:
    if isinstance(tree, Map) and isinstance(part, str):
        return tree.entries.get(part)
    if isinstance(tree, Items) and isinstance(part, int) and 0 <= part < len(tree.items):
        return tree.items[part]
    return None
