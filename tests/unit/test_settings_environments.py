"""The environments of this repository, and what is generated from the settings."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from infra.paths import ROOT, STACKS, VALUES
from infra.settings import environments, load
from infra.settings.load import base_values, load_with_origins
from infra.settings.models.base import Section
from infra.settings.models.settings import Values
from infra.settings.reference import render_reference
from infra.settings.rules.rule import each
from infra.settings.schema import render_schema
from infra.settings.show import render
from infra.settings.sources import Source
from infra.settings.tree import Plain, plain
from tests.unit.settings.json_schema import faults

ENVIRONMENTS = ["dev", "local", "prod-aws", "prod-onprem", "staging"]
FILES = ["base", *ENVIRONMENTS]


def values_of(name: str) -> Plain:
    tree = Source(VALUES / f"{name}.yaml", name).read()
    assert tree is not None
    return plain(tree)


def test_environments_are_those_of_the_files() -> None:
    assert environments() == ENVIRONMENTS


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_environment_is_valid(env: str) -> None:
    settings = load(env)
    assert settings.environment == env
    assert settings.training.operator.replicas >= 2


@pytest.mark.parametrize("env", [env for env in ENVIRONMENTS if env != "local"])
def test_stack_names_its_cluster(env: str) -> None:
    stack = yaml.safe_load((STACKS / f"Pulumi.{env}.yaml").read_text(encoding="utf-8"))
    assert stack["config"]["flotilla:context"] == f"flotilla-{env}"


def test_local_has_the_machines_of_the_sandbox() -> None:
    pools = {pool.name: pool for pool in load("local").cluster.node_pools}
    assert [(pool.nodes.min, pool.machine.gpus) for pool in pools.values()] == [(3, 0), (3, 0), (3, 8)]
    assert len(load("local").cluster.zones) == 3


def test_settings_cannot_be_changed() -> None:
    settings = load("local")
    with pytest.raises(ValueError, match="frozen"):
        settings.mesh.domain = "elsewhere.example.com"  # pyright: ignore[reportAttributeAccessIssue]


def test_resources_are_written_for_a_container() -> None:
    assert load("prod-aws").training.operator.resources.as_manifest() == {
        "requests": {"cpu": "500m", "memory": "1Gi"},
        "limits": {"memory": "4Gi"},
    }


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_shown_values_load_to_the_same_settings(env: str) -> None:
    loaded = load_with_origins(env)
    for text in (render(loaded), render(loaded, origin=True)):
        again = Values.model_validate_json(json.dumps(yaml.safe_load(text)))
        assert {name: getattr(again, name) for name in Values.model_fields} == {
            name: getattr(loaded.settings, name) for name in Values.model_fields
        }


def test_shown_origin_names_file_and_line() -> None:
    lines = render(load_with_origins("prod-aws"), origin=True).splitlines()
    origins = dict(re.split(r"\s+# ", line.strip(), maxsplit=1) for line in lines if "#" in line)
    for text, name in (("qps: 200", "base"), ("threads: 20", "prod-aws")):
        file, line = origins[text].split(":")
        assert file == f"values/{name}.yaml"
        assert (ROOT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip() == text
    assert origins["reclaimPolicy: Retain"] == "default of the settings"


def test_every_key_is_described() -> None:
    sections = [section for _, section in each(Section, load("local").cluster)]
    assert sections
    schema = Values.model_json_schema()
    for name, definition in schema["$defs"].items():
        assert definition["description"], name
        for key, field in definition["properties"].items():
            assert field.get("description") or "$ref" in field, f"{name}.{key}"


def test_schema_file_is_up_to_date() -> None:
    assert (VALUES / "schema.json").read_text(encoding="utf-8") == render_schema()


def test_reference_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    assert page == render_reference(base_values())


@pytest.mark.parametrize("name", FILES)
def test_file_points_editors_to_the_schema(name: str) -> None:
    first = (VALUES / f"{name}.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=schema.json"


@pytest.mark.parametrize("name", FILES)
def test_file_satisfies_the_schema(name: str) -> None:
    assert list(faults(values_of(name), json.loads(render_schema()))) == []


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"training": {"operator": {"replica": 3}}}, "replica"),
        ({"training": {"operator": {"replicas": 1}}}, "replicas"),
        ({"training": {"operator": {"resources": {"requests": {"memory": "10GB"}}}}}, "memory"),
        ({"teams": [{"name": "vision"}]}, "quota"),
        ({"cluster": {"autoscaler": {"kind": "magic"}}}, "autoscaler"),
        ({"mesh": {"ingress": {"serviceType": "ExternalName"}}}, "serviceType"),
    ],
)
def test_schema_refuses_what_loading_refuses(values: Plain, fault: str) -> None:
    assert fault in list(faults(values, json.loads(render_schema())))
