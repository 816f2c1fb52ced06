"""Values with their origin: what a YAML file says, and where it says it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, order=True)
class Origin:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Leaf:
    """A scalar; two leaves are equal when their values are."""

    value: str | int | float | bool | None
    origin: Origin = field(compare=False)


@dataclass(frozen=True)
class Items:
    """A list."""

    items: tuple[Tree, ...]
    origin: Origin = field(compare=False)


@dataclass(frozen=True)
class Map:
    """A map; its values' origins are those of their keys where these stand on a line of their own."""

    entries: dict[str, Tree]
    origin: Origin = field(compare=False)


Tree: TypeAlias = "Leaf | Items | Map"
Plain: TypeAlias = "str | int | float | bool | tuple[Plain, ...] | dict[str, Plain] | None"


def plain(tree: Tree) -> Plain:
    """Return the bare value; lists become tuples, as settings are never changed."""
    match tree:
        case Leaf(value=value):
            return value
        case Items(items=items):
            return tuple(plain(item) for item in items)
        case Map(entries=entries):
            return {key: plain(value) for key, value in entries.items()}
