"""The JSON schema of values files, for completion and checks in editors."""

from __future__ import annotations

import json
from typing import Any

from infra.settings.models.settings import Values

Schema = dict[str, Any]
DIALECT = "http://json-schema.org/draft-07/schema#"
DEFINITIONS = "#/$defs/"
PART = "Part"
"""Ends the name of a definition that a file may give in part, because another file gives the rest."""


def render_schema() -> str:
    """Return the schema as the text of values/schema.json."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def schema() -> Schema:
    """Return the schema that base.yaml and every environment's file satisfy.

    A file is one of two layers, so what lies in maps may be given in part. What lies in lists may not: lists
    replace as a whole.
    """
    whole = Values.model_json_schema(by_alias=True)
    layers = _Layers(whole.pop("$defs"))
    root = layers.copy(whole, partial=True)
    return {
        "$schema": DIALECT,
        "title": "Values of a Flotilla environment",
        **root,
        "$defs": layers.definitions,
    }


class _Layers:
    """Copies a schema of whole values into one of layers, with the definitions it refers to.

    Args:
        whole: definitions of whole values.

    """

    def __init__(self, whole: dict[str, Schema]) -> None:
        self.definitions: dict[str, Schema] = {}
        self._whole = whole

    def copy(self, node: Schema, *, partial: bool) -> Schema:
        """Return a schema in which nothing is required that another layer may give."""
        result: Schema = {}
        for key, value in node.items():
            match key:
                case "title" | "discriminator":
                    pass
                case "required" if partial:
                    pass
                case "$ref":
                    result[key] = DEFINITIONS + self._define(value.removeprefix(DEFINITIONS), partial=partial)
                case "properties" | "patternProperties":
                    result[key] = {name: self.copy(child, partial=partial) for name, child in value.items()}
                case "anyOf" | "oneOf":
                    # Without what is required, a part may fit several of a union's members.
                    result["anyOf"] = [self.copy(child, partial=partial) for child in value]
                case "additionalProperties" if isinstance(value, dict):
                    result[key] = self.copy(value, partial=partial)
                case "items":
                    result[key] = self.copy(value, partial=False)
                case _:
                    result[key] = value
        return result

    def _define(self, name: str, *, partial: bool) -> str:
        """Copy a definition, once, and return the name of the copy."""
        copied = name + PART if partial else name
        if copied not in self.definitions:
            self.definitions[copied] = {}
            self.definitions[copied].update(self.copy(self._whole[name], partial=partial))
        return copied
