"""Environment, command and downward API: what a container sees is what a kubelet would give it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.agent.environment import ConfigError, command_line, environment, expand, service_variables
from sandbox.agent.fields import pod_field, resource_field
from tests.unit.agent_objects import pod, service

Json = dict[str, Any]
SOURCES: dict[tuple[str, str], dict[str, str]] = {
    ("ConfigMap", "conf"): {"LEVEL": "info", "a=b": "skipped"},
    ("Secret", "login"): {"password": "s3cret"},
}


def lookup(kind: str, name: str) -> Mapping[str, str] | None:
    return SOURCES.get((kind, name))


def variables(container: Json, services: Mapping[str, str] | None = None) -> dict[str, str]:
    return environment(pod(), container, services=services or {}, lookup=lookup)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$(A)-$(B)", "1-2"),
        ("$(MISSING)", "$(MISSING)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$A ${A} $(", "$A ${A} $("),
        ("costs $$5", "costs $5"),
    ],
)
def test_references_are_expanded_as_kubernetes_does(text: str, expected: str) -> None:
    assert expand(text, {"A": "1", "B": "2"}) == expected


@given(st.text(alphabet=st.characters(exclude_characters="$")))
def test_text_without_a_dollar_sign_stays_as_it_is(text: str) -> None:
    assert expand(text, {"A": "1"}) == text


def test_variables_refer_to_earlier_ones_and_services_but_not_to_later_ones() -> None:
    container = {
        "env": [
            {"name": "A", "value": "$(HOST)/$(B)"},
            {"name": "B", "value": "b"},
            {"name": "C", "value": "$(A)$(B)"},
        ]
    }
    assert variables(container, {"HOST": "h"}) == {"HOST": "h", "A": "h/$(B)", "B": "b", "C": "h/$(B)b"}


def test_declared_variables_win_over_imported_ones_and_these_over_services() -> None:
    container = {
        "envFrom": [{"configMapRef": {"name": "conf"}}, {"prefix": "DB_", "secretRef": {"name": "login"}}],
        "env": [{"name": "DB_password", "value": "mine"}],
    }
    assert variables(container, {"LEVEL": "old"}) == {"LEVEL": "info", "DB_password": "mine"}


def test_values_come_from_config_maps_secrets_and_the_pod() -> None:
    container = {
        "env": [
            {"name": "LEVEL", "valueFrom": {"configMapKeyRef": {"name": "conf", "key": "LEVEL"}}},
            {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}},
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
        ]
    }
    assert variables(container) == {"LEVEL": "info", "PASSWORD": "s3cret", "NODE": "n1", "APP": "web"}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"secretKeyRef": {"name": "login", "key": "user"}}, "couldn't find key user in Secret demo/login"),
        ({"configMapKeyRef": {"name": "none", "key": "k"}}, 'configmap "demo/none" not found'),
        ({"fieldRef": {"fieldPath": "spec.nope"}}, "field spec.nope is not supported"),
        ({"fileKeyRef": {}}, "a variable's source is not supported: fileKeyRef"),
    ],
)
def test_missing_source_says_what_is_missing(source: Json, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        variables({"env": [{"name": "X", "valueFrom": source}]})


@pytest.mark.parametrize("name", ["login", "none"])
def test_missing_optional_key_leaves_the_variable_out(name: str) -> None:
    reference = {"name": name, "key": "user", "optional": True}
    assert variables({"env": [{"name": "X", "valueFrom": {"secretKeyRef": reference}}]}) == {}


def test_command_replaces_the_entry_point_and_arguments_follow_either() -> None:
    assert command_line({"args": ["--a=$(A)"]}, ("/app",), {"A": "1"}) == ["/app", "--a=1"]
    assert command_line({"command": ["sh"], "args": ["-c"]}, ("/app",), {}) == ["sh", "-c"]


def test_service_variables_name_every_port() -> None:
    found = service_variables(
        [
            service("my-db", ports=[{"name": "sql", "port": 5432, "protocol": "TCP"}]),
            service("headless", address="None"),
        ]
    )
    assert found == {
        "MY_DB_SERVICE_HOST": "10.96.0.9",
        "MY_DB_SERVICE_PORT": "5432",
        "MY_DB_SERVICE_PORT_SQL": "5432",
        "MY_DB_PORT": "tcp://10.96.0.9:5432",
        "MY_DB_PORT_5432_TCP": "tcp://10.96.0.9:5432",
        "MY_DB_PORT_5432_TCP_PROTO": "tcp",
        "MY_DB_PORT_5432_TCP_PORT": "5432",
        "MY_DB_PORT_5432_TCP_ADDR": "10.96.0.9",
    }


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("metadata.labels", 'app="web"\ntier="a"'),
        ("metadata.annotations", 'note="say \\"hi\\""'),
        ("metadata.labels['none']", ""),
        ("status.podIP", "10.200.0.11"),
        ("spec.serviceAccountName", "runner"),
        ("spec.containers", None),
    ],
)
def test_fields_of_a_pod_as_the_downward_api_shows_them(path: str, expected: str | None) -> None:
    assert pod_field(pod(), path) == expected


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ({"resource": "limits.cpu"}, "2"),
        ({"resource": "limits.cpu", "divisor": "1m"}, "1500"),
        ({"resource": "requests.memory", "divisor": "1Mi"}, "64"),
        ({"resource": "limits.memory", "divisor": "1Gi"}, "8"),
        ({"resource": "requests.cpu"}, "0"),
    ],
)
def test_resources_are_rounded_up_to_the_divisor(reference: Json, expected: str) -> None:
    container = {"resources": {"limits": {"cpu": "1500m"}, "requests": {"memory": "64Mi"}}}
    node = {"status": {"allocatable": {"memory": "8Gi"}}}
    assert resource_field(pod(), container, reference, node) == expected
