"""Looks things up in the models: which fields a place in the values has, and what their types are."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeGuard, Union, get_args, get_origin

from infra.settings.models.base import Section
from infra.settings.models.settings import Values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic.fields import FieldInfo

Tag: TypeAlias = tuple[str, str]


def fields_of(section: type[Section]) -> dict[str, FieldInfo]:
    """Return a section's fields by the key that the values use."""
    return {field.alias or name: field for name, field in section.model_fields.items()}


def section_at(path: Iterable[str | int]) -> type[Section] | None:
    """Return the section that pydantic reports by this location, if it is one."""
    annotation: Any = Values
    for part in path:
        annotation = _inside(annotation, part)
    candidates = [kind for kind in alternatives(annotation) if is_section(kind)]
    return candidates[0] if len(candidates) == 1 else None


def members(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union but None, or the type itself if it is not a union."""
    if get_origin(annotation) in {Union, UnionType}:
        return tuple(kind for kind in get_args(annotation) if kind is not NoneType)
    return (annotation,)


def accepts_none(annotation: Any) -> bool:
    """Tell whether a value may be null."""
    return get_origin(annotation) in {Union, UnionType} and NoneType in get_args(annotation)


def alternatives(annotation: Any) -> list[Any]:
    """Return the types a value may have, without None and what annotates them."""
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    kinds = members(annotation)
    return [annotation] if kinds == (annotation,) else [inner for kind in kinds for inner in alternatives(kind)]


def is_section(kind: Any) -> TypeGuard[type[Section]]:
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


def discriminator(section: type[Section]) -> Tag | None:
    """Return the key and the one word it can hold, by which a union tells this member."""
    for key, field in fields_of(section).items():
        words = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
        if len(words) == 1:
            return key, str(words[0])
    return None


def _is_called(section: type[Section], word: str | int) -> bool:
    tag = discriminator(section)
    return tag is not None and tag[1] == word
