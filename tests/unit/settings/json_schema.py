"""The parts of JSON Schema that the settings' schema uses."""

from __future__ import annotations

import re
from typing import Any, cast

KINDS: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "object": dict,
    "array": (tuple, list),
}


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, key: str = "") -> list[str]:
    """Return the keys that break a schema, in no particular order."""
    root = root or schema
    if "$ref" in schema:
        schema = {**root["$defs"][schema["$ref"].removeprefix("#/$defs/")], **schema}
    if "anyOf" in schema:
        return [] if any(not faults(value, option, root, key) for option in schema["anyOf"]) else [key]
    names: list[str] = schema["type"] if isinstance(schema.get("type"), list) else [schema.get("type", "")]
    if names != [""] and not any(
        isinstance(value, KINDS[name]) and (name == "boolean") == isinstance(value, bool) for name in names
    ):
        return [key]
    if isinstance(value, dict):
        return list(_faults_of_map(cast("dict[str, Any]", value), schema, root))
    if isinstance(value, tuple | list):
        items = cast("list[Any]", value)
        inside = [fault for item in items for fault in faults(item, schema["items"], root, key)]
        return inside + [key] * (len(items) < schema.get("minItems", 0))
    wrong = (
        value not in schema.get("enum", [value])
        or value != schema.get("const", value)
        or (isinstance(value, str) and not re.search(schema.get("pattern", ""), value))
        or (isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value))
    )
    return [key] * wrong


def _faults_of_map(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any]) -> list[str]:
    properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    found = [name for name in schema.get("required", []) if name not in value]
    for name, inner in value.items():
        if name in properties:
            found += faults(inner, properties[name], root, name)
        elif named := [each for pattern, each in patterns.items() if re.search(pattern, name)]:
            found += faults(inner, named[0], root, name)
        elif schema.get("additionalProperties") is False:
            found.append(name)
    return found
