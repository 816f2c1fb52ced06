"""The JSON schema of values files, for completion and checks in editors."""

from __future__ import annotations

import json
from typing import Any, cast

from infra.settings.models.settings import Values

Schema = dict[str, Any]
DEFINITIONS = "#/$defs/"
PART = "Part"
"""Ends the name of a definition that a file may give in part, because base.yaml gives the rest."""


def render_schema() -> str:
    """Return the schema as the text of values/schema.json."""
    return json.dumps(schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def schema() -> Schema:
    """Return the schema that base.yaml and every environment's file satisfy.

    A file is one of two layers, so what lies in maps may be given in part. What lies in lists may not: lists
    replace as a whole.
    """
    whole = Values.model_json_schema(by_alias=True)
    definitions: dict[str, Schema] = whole.pop("$defs")
    collected: dict[str, Schema] = {}
    root = _copy(whole, definitions, collected, partial=True)
    root.update(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "Flotilla's values",
            "$defs": collected,
        }
    )
    return root


def _copy(node: Schema, definitions: dict[str, Schema], collected: dict[str, Schema], *, partial: bool) -> Schema:
    """Copy a schema, and the definitions it refers to, with `required` dropped where it may be given in part."""

    def visit(key: str, value: object) -> object:
        if isinstance(value, dict):
            inside = cast("Schema", value)
            if key in {"properties", "$defs"}:
                return {name: visit(name, child) for name, child in inside.items()}
            return _copy(inside, definitions, collected, partial=partial and key != "items")
        if isinstance(value, list) and key in {"oneOf", "anyOf"}:
            return [visit("", child) for child in cast("list[object]", value)]
        return value

    result: Schema = {}
    for key, value in node.items():
        if key == "$ref":
            result[key] = DEFINITIONS + _define(str(value), definitions, collected, partial=partial)
        elif key == "oneOf" and partial:
            result["anyOf"] = visit("anyOf", value)
        elif key not in {"title", "discriminator", *(("required",) if partial else ())}:
            result[key] = visit(key, value)
    return result


def _define(
    reference: str, definitions: dict[str, Schema], collected: dict[str, Schema], *, partial: bool
) -> str:
    """Copy the definition that a reference names, once, and return the name it has in the copy."""
    name = reference.removeprefix(DEFINITIONS)
    copied = name + PART if partial else name
    if copied not in collected:
        collected[copied] = {}
        collected[copied] = _copy(definitions[name], definitions, collected, partial=partial)
    return copied
