"""Maps whose keys are names of the user's choice, such as databases: found, described, checked, merged and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.settings.load import base_values, load, load_with_origins
from infra.settings.models.data.databases import Pool
from infra.settings.models.resources import Resources
from infra.settings.reference import render_reference
from infra.settings.rules.rule import each
from infra.settings.schema import schema
from infra.settings.show import render
from tests.unit.settings.database_rules import data, external, operated
from tests.unit.settings.folder import load_overlay, make, message

if TYPE_CHECKING:
    from pathlib import Path


def test_rules_see_the_sections_of_every_name(tmp_path: Path) -> None:
    settings = load_overlay(tmp_path, data(f"{operated(pool='{ maxOpen: 7 }')}, {external(pool='{ maxOpen: 8 }')}"))

    pools = {path: pool.max_open for path, pool in each(Pool, settings)}
    assert pools["data", "databases", "own", "pool"] == 7
    assert pools["data", "databases", "other", "pool"] == 8
    assert ("data", "databases", "own", "resources") in dict(each(Resources, settings))


def test_names_of_both_files_are_merged(tmp_path: Path) -> None:
    settings = load_overlay(tmp_path, data(operated()))

    assert settings.data.databases.keys() == {"mysql", "postgresql", "own"}


def test_part_of_a_named_section_replaces_what_base_says(tmp_path: Path) -> None:
    assert load_overlay(tmp_path, data("mysql: { port: 3307 }")).data.databases["mysql"].listens_at == 3307


def test_reference_describes_every_kind_below_any_name() -> None:
    page = render_reference(base_values())

    assert "## `data.databases.* (kind: external)`" in page
    assert "## `data.databases.* (kind: operator).storage`" in page
    assert "| `databases` | map of database name to map |" in page


def test_schema_lets_a_layer_give_part_of_a_named_section() -> None:
    definitions = schema()["$defs"]
    (named,) = definitions["DataPart"]["properties"]["databases"]["patternProperties"].values()

    for member in named["anyOf"]:
        assert "required" not in definitions[member["$ref"].removeprefix("#/$defs/")]


def test_shown_values_are_an_environment_of_their_own(tmp_path: Path) -> None:
    folder = make(tmp_path, data(operated()))
    shown = render(load_with_origins("dev", folder))
    (folder / "dev.yaml").write_text(shown, encoding="utf-8")

    assert load("dev", folder).data == load_with_origins("dev", folder).settings.data
    assert "    own:\n      kind: operator\n" in shown


@pytest.mark.parametrize("name", ["Own", "own-", "9own", "a" * 23])
def test_name_of_another_shape_is_refused_where_it_stands(name: str, tmp_path: Path) -> None:
    text = message(tmp_path, data(external(name=name)))

    assert text.startswith(f"values/dev.yaml:2: data.databases.{name}")


def test_wrong_key_is_found_although_the_kind_is_called_as_another_key(tmp_path: Path) -> None:
    assert "data.databases.own.operator: 'mocko' is not one of" in message(tmp_path, data(operated("mocko")))
    assert "data.databases.own.storage.size: is missing" in message(tmp_path, data(operated(storage="{}")))
