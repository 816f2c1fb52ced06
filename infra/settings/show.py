"""Writes settings as YAML, with the file and line that each value comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from infra.settings.locate import KeyPath, locate
from infra.settings.models.settings import Values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.load import Loaded

FARTHEST = 60
"""Column that comments start at, at the latest, unless their line is longer."""

DEFAULT = "default of the settings"


def render(loaded: Loaded, *, origin: bool = False) -> str:
    """Return the merged values, defaults included, as YAML that could be an environment's own file.

    Args:
        loaded: what to write.
        origin: end each line that holds a value with a comment that names where it comes from.

    """
    values = {field.alias or name: _dump(getattr(loaded.settings, name)) for name, field in Values.model_fields.items()}
    lines = list(_lines(values, (), ""))
    if not origin:
        return "".join(f"{text}\n" for text, _ in lines)
    column = min(FARTHEST, max(len(text) for text, path in lines if path))
    return "".join(
        f"{text.ljust(column)}  # {_origin(loaded, path)}\n" if path else f"{text}\n" for text, path in lines
    )


def _dump(value: Any) -> Any:
    return [_dump(item) for item in value] if isinstance(value, tuple) else value.model_dump(mode="json")


def _lines(value: Any, path: KeyPath, indent: str) -> Iterator[tuple[str, KeyPath | None]]:
    """Yield each line of a map or list, with the path of the value that it ends with, if it ends with one."""
    for part, child in value.items() if isinstance(value, dict) else enumerate(value):
        head = f"{indent}{_scalar(part)}:" if isinstance(part, str) else f"{indent}-"
        place = (*path, part)
        if not (isinstance(child, dict | list) and child):
            yield f"{head} {_scalar(child)}", place
        elif isinstance(part, str):
            yield head, None
            yield from _lines(child, place, f"{indent}  ")
        else:
            first, *rest = _lines(child, place, f"{indent}  ")
            yield f"{head} {first[0].lstrip()}", first[1]
            yield from rest


def _scalar(value: Any) -> str:
    if isinstance(value, dict | list):
        return "{}" if isinstance(value, dict) else "[]"
    return yaml.safe_dump(value, width=float("inf"), allow_unicode=True).removesuffix("...\n").strip()


def _origin(loaded: Loaded, path: KeyPath) -> str:
    place = locate(loaded.values, path)
    return str(place.origin) if place.found else DEFAULT
