"""Rendering without engine or cluster: whole numbers, no nulls, no secret, nothing declared twice."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from infra.errors import FlotillaError
from infra.paths import ROOT
from ops import manifests
from tests.unit.core.parsing import everything


def config_map(resource: str, name: str = "boat", **data: pulumi.Input[str]) -> None:
    k8s.core.v1.ConfigMap(resource, metadata={"name": name, "namespace": "harbour"}, data=data)


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], manifests.Rendered]:
    """Render what a function declares, instead of the platform."""

    def render(declare: Callable[[], object]) -> manifests.Rendered:
        monkeypatch.setattr(manifests, "declare", lambda *_, **__: declare())
        return manifests.render(everything())

    return render


def test_secrets_are_named_and_not_shown(rendered: Any) -> None:
    def declare() -> None:
        k8s.core.v1.Secret("key", metadata={"name": "key"}, string_data={"open": pulumi.Output.secret("sesame")})
        config_map("boat", password=pulumi.Output.secret("hunter2"), port="80")

    (secret, plain) = rendered(declare).objects

    assert secret["stringData"] == {"open": "(secret)"}
    assert "hunter2" not in str(plain)


def test_numbers_are_whole_and_nulls_are_left_out(rendered: Any) -> None:
    (manifest,) = rendered(
        lambda: k8s.apiextensions.CustomResource(
            "pool",
            api_version="v1",
            kind="Pool",
            metadata={"name": "pool"},
            spec={"max": 20.0, "share": 0.5, "of": [{}]},
        )
    ).objects

    assert str(manifest["spec"]["max"]) == "20"
    assert manifest["spec"] == {"max": 20, "share": 0.5, "of": [{}]}


def test_rendering_makes_the_event_loop_that_later_pythons_do_not() -> None:
    program = (
        "import asyncio; asyncio.set_event_loop(None);"
        "from infra.settings import load; from ops.manifests import render; assert render(load('local')).objects"
    )

    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True)


def test_objects_are_sorted_whatever_the_order_of_declaration(rendered: Any) -> None:
    def declare() -> None:
        for name in ("c", "a", "b"):
            config_map(name, name)

    assert [manifest["metadata"]["name"] for manifest in rendered(declare).objects] == ["a", "b", "c"]


def test_an_object_declared_twice_is_refused(rendered: Any) -> None:
    def declare() -> None:
        config_map("one")
        config_map("other")

    with pytest.raises(FlotillaError, match="harbour ConfigMap boat is declared twice"):
        rendered(declare)


def test_a_call_that_needs_a_cluster_is_refused(rendered: Any) -> None:
    with pytest.raises(FlotillaError, match="rendering cannot call cloud:ask: it needs a cluster"):
        rendered(lambda: pulumi.runtime.invoke("cloud:ask", {}))
