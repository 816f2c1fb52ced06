"""Settings as values files write them, without a values folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter

from infra.settings import Settings

T = TypeVar("T")
EVERYTHING = Path(__file__).with_name("everything.yaml")
ALTERNATIVES = Path(__file__).with_name("alternatives.yaml")


def parse(model: type[T], **values: Any) -> T:
    """Return a section of the settings from its values."""
    return TypeAdapter[T](model).validate_json(json.dumps(values))


def everything() -> Settings:
    """Return the settings of an environment that declares whatever Flotilla can."""
    return parse(Settings, **yaml.safe_load(EVERYTHING.read_text(encoding="utf-8")))


def alternatives() -> list[Settings]:
    """Return `everything()`, and the same with each of its alternatives: together they use every component."""
    found = [everything()]
    for overlay in yaml.safe_load(ALTERNATIVES.read_text(encoding="utf-8")):
        values = yaml.safe_load(EVERYTHING.read_text(encoding="utf-8"))
        for section, parts in overlay.items():
            values[section] |= parts
        found.append(parse(Settings, **values))
    return found
