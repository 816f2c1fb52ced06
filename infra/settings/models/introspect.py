"""Looks things up in the models: which fields a place in the values has, and what their types are."""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from infra.settings.models.base import Section
from infra.settings.models.settings import Values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic.fields import FieldInfo


def fields_of(section: type[Section]) -> dict[str, FieldInfo]:
    """Return a section's fields by the key that the values use."""
    return {field.alias or name: field for name, field in section.model_fields.items()}


def fields_at(path: Iterable[str | int]) -> dict[str, FieldInfo]:
    """Return the fields of the section that pydantic reports by this location, if it is one."""
    annotation: Any = Values
    for part in path:
        annotation = _inside(annotation, part)
    candidates = [kind for kind in alternatives(annotation) if is_section(kind)]
    return fields_of(candidates[0]) if len(candidates) == 1 else {}


def alternatives(annotation: Any) -> list[Any]:
    """Return the types a value may have, without None and what annotates them."""
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        return [
            inner for kind in get_args(annotation) if kind is not type(None) for inner in alternatives(kind)
        ]
    return [annotation]


def is_section(kind: Any) -> bool:
    """Tell whether a type is one of the models."""
    return isinstance(kind, type) and issubclass(kind, Section)


def _inside(annotation: Any, part: str | int) -> Any:
    """Return the type of what lies under a key, an index or a union member's name."""
    kinds = alternatives(annotation)
    if len(kinds) > 1:
        return next((kind for kind in kinds if is_section(kind) and _is_called(kind, part)), None)
    kind = kinds[0]
    if is_section(kind):
        field = fields_of(kind).get(str(part))
        return field.annotation if field else None
    arguments = get_args(kind)
    if get_origin(kind) is tuple:
        return arguments[0]
    return arguments[1] if get_origin(kind) is dict else None


def _is_called(section: type[Section], tag: str | int) -> bool:
    """Tell whether one of the section's fields can only be this word."""
    return any(
        get_origin(field.annotation) is Literal and get_args(field.annotation) == (tag,)
        for field in section.model_fields.values()
    )
