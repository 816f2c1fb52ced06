"""What differs between two objects, field by field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast


class Absent:
    """Stands for a field that is not there, which is not the same as one that is null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


@dataclass(frozen=True, kw_only=True)
class Change:
    """One field that differs.

    Args:
        path: where it is, as kubectl spells it; list entries by their name, else by position.
        before: its value now, ABSENT when it is added.
        after: its value then, ABSENT when it is removed.

    """

    path: str
    before: Any
    after: Any


def changes(before: object, after: object, path: str = "") -> Iterator[Change]:
    """Yield the smallest fields that differ, in the order of `before`, then what `after` adds."""
    old, new = _entries(before), _entries(after)
    if old is None or new is None or _is_list(before) != _is_list(after):
        if before != after:
            yield Change(path=path, before=before, after=after)
        return
    for key in [*old, *(key for key in new if key not in old)]:
        inner = f"{path}[{key}]" if _is_list(before) else f"{path}.{key}" if path else key
        first, second = old.get(key, ABSENT), new.get(key, ABSENT)
        if isinstance(first, Absent) or isinstance(second, Absent):
            yield Change(path=inner, before=first, after=second)
        else:
            yield from changes(first, second, inner)


def _entries(value: object) -> dict[str, Any] | None:
    """Return a map's entries, or a list's by the name or position of each; None for a scalar."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    if not isinstance(value, list):
        return None
    items = cast("list[Any]", value)
    names = [cast("dict[str, Any]", item).get("name") for item in items if isinstance(item, dict)]
    if len(names) == len(items) and len(set(names)) == len(names) and None not in names:
        return dict(zip(map(str, names), items, strict=True))
    return {str(index): item for index, item in enumerate(items)}


def _is_list(value: object) -> bool:
    return isinstance(value, list)
