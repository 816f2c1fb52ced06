"""Turns what pydantic found into messages for the person who writes the values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from infra.settings.locate import KeyPath, Place, locate
from infra.settings.models.introspect import discriminator, fields_of, section_at
from infra.settings.problems import DESIGNED, Problem
from infra.settings.suggest import closest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails

    from infra.settings.tree import Map, Origin

SECRET_KEY = re.compile(r"(?i)pass(word|wd|phrase)|secret|token|credential|(api|access|private)[-_]?key")
"""Keys whose values are never repeated in a message."""

LONGEST_ECHO = 60
REFERENCE = "See docs/reference/settings.md for what it may be"
MAPS = ("a map", "Write `key: value` lines below it")
EXPECTED = {
    "tuple_type": ("a list", "Write `- item` lines below it, or [item, item]"),
    "dict_type": MAPS,
    "model_type": MAPS,
    "model_attributes_type": MAPS,
}


def translate(values: Map, detail: ErrorDetails) -> Problem:
    """Return pydantic's error as a problem at the file and line that caused it."""
    kind, loc, context = detail["type"], detail["loc"], detail.get("ctx", {})
    if kind.startswith("union_tag"):
        loc = (*loc, str(context["discriminator"]).strip("'"))
    missing = kind in {"missing", "union_tag_not_found"}
    place = locate(values, loc, missing=missing)
    hidden = any(SECRET_KEY.search(str(part)) for part in loc) and not missing
    if kind == "extra_forbidden":
        what, remedy = _unknown(loc, hidden=hidden)
    elif hidden:
        what, remedy = "is not valid (its value is not shown)", REFERENCE
    else:
        what, remedy = _explain(kind, loc, context, detail["input"])
    origin = _layer_to_add_to(values, place, loc) if missing else place.origin
    return Problem(origin.file, origin.line, place.dotted, what, remedy)


def follows(detail: ErrorDetails, others: Iterable[ErrorDetails]) -> bool:
    """Tell whether a key is missing only because it is misspelled, as the message about that spelling says."""
    *section, name = detail["loc"]
    return detail["type"] == "missing" and any(
        other["type"] == "extra_forbidden"
        and other["loc"][:-1] == tuple(section)
        and closest(str(other["loc"][-1]), _known(other["loc"][:-1])) == name
        for other in others
    )


def _layer_to_add_to(values: Map, place: Place, loc: KeyPath) -> Origin:
    """Return where a missing key belongs: in the environment's file, unless base.yaml's own list lacks it."""
    in_list = any(isinstance(part, int) for part in loc)
    return place.origin if in_list or place.origin.file == values.origin.file else values.origin


def _unknown(loc: KeyPath, *, hidden: bool) -> tuple[str, str]:
    section = section_at(loc[:-1])
    known = _known(loc[:-1])
    tag = discriminator(section) if section else None
    what = f"unknown key with `{tag[0]}: {tag[1]}`" if tag else "unknown key"
    if match := closest(str(loc[-1]), known):
        return what, f"Did you mean {match}?"
    if hidden:
        return f"{what}, and values hold no secrets", "Remove it; use `pulumi config set --secret`"
    return what, f"Known here: {', '.join(known)}" if known else "Remove it"


def _known(loc: KeyPath) -> list[str]:
    """Return the keys that a section may have."""
    section = section_at(loc)
    return list(fields_of(section)) if section else []


def _explain(kind: str, loc: KeyPath, context: dict[str, Any], given: object) -> tuple[str, str]:
    if kind == DESIGNED:
        return str(context["what"]), str(context["remedy"])
    if kind == "missing":
        return "is missing", _add(loc)
    if given is None:
        return "is empty", REFERENCE
    if kind in {"greater_than_equal", "less_than_equal"}:
        return _out_of_bounds(kind, context, given)
    if kind in {"literal_error", "union_tag_invalid", "union_tag_not_found"}:
        return _not_among(kind, context, given)
    if kind in EXPECTED:
        expected, remedy = EXPECTED[kind]
        return f"expected {expected}, got {describe(given)}", remedy
    if kind.startswith("bool"):
        return f"expected true or false, got {describe(given)}", f"Write {_truth(given)}"
    if kind.startswith("int"):
        return f"expected a whole number, got {describe(given)}", f"Write {_whole(given)}"
    if kind.startswith("string"):
        return f"expected text, got {describe(given)}", f"Write {_text(given)}"
    return f"is not valid: {kind.replace('_', ' ')}", REFERENCE


def _add(loc: KeyPath) -> str:
    """Ask for a missing key, with the first sentence of what it means."""
    section = section_at(loc[:-1])
    field = fields_of(section).get(str(loc[-1])) if section else None
    meaning = " ".join((field.description or "").split()) if field else ""
    return f"Add it: {re.split(r'[.;:] ', meaning)[0].rstrip('.')}"


def _out_of_bounds(kind: str, context: dict[str, Any], given: object) -> tuple[str, str]:
    if kind == "greater_than_equal":
        return f"{given} is too small: at least {context['ge']}", f"Write {context['ge']} or more"
    return f"{given} is too large: at most {context['le']}", f"Write {context['le']} or less"


def _not_among(kind: str, context: dict[str, Any], given: object) -> tuple[str, str]:
    words = re.findall(r"'([^']*)'", str(context.get("expected") or context.get("expected_tags") or ""))
    known = ", ".join(words)
    if kind == "union_tag_not_found":
        return "is missing", "Add it"
    word = context["tag"] if kind == "union_tag_invalid" else given
    if not isinstance(word, str):
        return f"expected one of {known}, got {describe(word)}", "Write one of them"
    return f"{word!r} is not one of {known}", f"Write {closest(word, words) or 'one of them'}"


def _truth(given: object) -> str:
    word = str(given).lower()
    if word in {"yes", "on", "y", "true", "1"}:
        return "true"
    return "false" if word in {"no", "off", "n", "false", "0"} else "true or false, without quotes"


def _whole(given: object) -> str:
    return (
        f"{given}, without quotes" if isinstance(given, str) and given.isdecimal() else "digits, without quotes or unit"
    )


def _text(given: object) -> str:
    if isinstance(given, bool):
        return f'it in quotes: "{str(given).lower()}"'
    return f'it in quotes: "{given}"' if isinstance(given, int | float) else "a single text"


def describe(value: object) -> str:
    """Name a value as YAML would, shortened if it is long."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, tuple):
        return "a list"
    if isinstance(value, str):
        return f"the text {value if len(value) <= LONGEST_ECHO else value[:LONGEST_ECHO] + '…'!r}"
    return str(value)
