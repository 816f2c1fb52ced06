"""YAML is read as YAML 1.2, with the line of every value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.settings.sources import Source
from infra.settings.tree import Map, Plain, plain

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, text: str) -> Map:
    path = folder / "values.yaml"
    path.write_text(text, encoding="utf-8")
    source = Source(path, "values.yaml")
    tree = source.read()
    assert source.problems == []
    assert tree is not None
    return tree


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ('""', ""),
        ('"true"', "true"),
        ("'1'", "1"),
        ("12", 12),
        ("-3", -3),
        ("012", "012"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2026-11-21", "2026-11-21"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", "1e3"),
        (".inf", ".inf"),
        ("500m", "500m"),
        ("[a, 1]", ("a", 1)),
        ("{ b: c }", {"b": "c"}),
        ("|\n  two\n  lines", "two\nlines\n"),
    ],
)
def test_scalar_is_resolved_by_the_core_schema(text: str, value: Plain, tmp_path: Path) -> None:
    result = plain(read(tmp_path, f"key: {text}\n"))
    assert result == {"key": value}
    assert isinstance(result, dict)
    assert type(result["key"]) is type(value)


def test_every_value_has_its_line(tmp_path: Path) -> None:
    tree = read(tmp_path, "# comment\na:\n  b: 1\n  c:\n    - x\n    - y\n")
    inner = tree.entries["a"]
    assert isinstance(inner, Map)
    assert str(inner.origin) == "values.yaml:2"
    assert [str(value.origin) for value in inner.entries.values()] == ["values.yaml:3", "values.yaml:4"]


def test_alias_repeats_its_anchor(tmp_path: Path) -> None:
    assert plain(read(tmp_path, "a: &x { b: 1 }\nc: *x\n")) == {"a": {"b": 1}, "c": {"b": 1}}


def test_byte_order_mark_is_not_content(tmp_path: Path) -> None:
    assert plain(read(tmp_path, "\ufeffa: 1\n")) == {"a": 1}


def test_document_start_is_accepted(tmp_path: Path) -> None:
    assert plain(read(tmp_path, "---\na: 1\n")) == {"a": 1}
