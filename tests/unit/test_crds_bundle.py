from __future__ import annotations

import base64
import logging
import pickletools
from typing import Any

import pulumi
import pytest
from pulumi.dynamic.dynamic import serialize_provider
from pulumi.runtime import mocks

from infra import crd_sources
from infra.core.crds.bundle import CrdBundle
from infra.core.crds.observe import Observation
from infra.core.crds.properties import INPUTS, desired, source_of
from infra.core.crds.provider import CrdProvider
from infra.errors import FlotillaError
from tests.unit.crds_fakes import bundle_inputs

TOKEN = "pulumi-python:dynamic/flotilla:CrdBundle"
OLD = bundle_inputs(crd_sources.KARPENTER)


class Recorder(mocks.Mocks):
    def __init__(self) -> None:
        self.inputs: dict[str, dict[str, Any]] = {}

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[Any, Any]]:
        assert args.typ == TOKEN
        self.inputs[args.name] = dict(args.inputs)
        return args.name, dict(args.inputs)

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]]]:
        raise AssertionError(args.token)


def declared(**options: Any) -> dict[str, Any]:
    recorder = Recorder()
    mocks.set_mocks(recorder, project="flotilla", stack="test", preview=False)

    @pulumi.runtime.test
    def run() -> None:
        CrdBundle("boats", crd_sources.KARPENTER, context=pulumi.Output.from_input("dev"), **options)

    run()
    return recorder.inputs["boats"]


def test_bundle_is_declared_by_names_and_hashes_alone() -> None:
    inputs = declared()

    assert {key: inputs[key] for key in INPUTS} == {**OLD, "context": "dev"}
    assert inputs.keys() == {*INPUTS, "__provider"}
    assert len(str(inputs)) < 2000


def test_bundle_declares_only_the_chosen_crds() -> None:
    assert list(declared(only=("nodepools.karpenter.sh",))["crds"]) == ["nodepools.karpenter.sh"]


def test_declared_inputs_lead_back_to_the_source() -> None:
    assert source_of(declared()) == crd_sources.KARPENTER


def test_unknown_choice_is_refused_at_once() -> None:
    with pytest.raises(FlotillaError, match="no CRD named pools"):
        CrdBundle("boats", crd_sources.KARPENTER, context="dev", only=("pools",))


def test_provider_is_stored_as_a_reference_to_its_class() -> None:
    stored = serialize_provider(CrdProvider())
    operations = list(pickletools.genops(base64.b64decode(stored)))
    strings = [argument for _, argument, _ in operations if isinstance(argument, str)]

    assert strings == ["infra.core.crds.provider", "CrdProvider"]
    assert stored == serialize_provider(CrdProvider())
    assert not CrdProvider.serialize_as_secret_always


def test_equal_inputs_are_no_difference() -> None:
    assert CrdProvider().diff("boats", {**OLD, "__provider": "a", "applied": {}}, OLD).changes is False


@pytest.mark.parametrize(
    "changed",
    [
        {"context": "prod"},
        {"digest": "sha256:other"},
        {"crds": {**OLD["crds"], "nodepools.karpenter.sh": "drifted sha256:other"}},
        {"destroyWithData": True},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_changed_input_updates_in_place(changed: dict[str, Any]) -> None:
    result = CrdProvider().diff("boats", OLD, {**OLD, **changed})

    assert result.changes is True
    assert not result.replaces


class Nothing:
    """Stands in for a cluster that must not be asked."""

    def __init__(self, context: str) -> None:
        assert context == "test"

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *_: object) -> None: ...


def test_read_reports_drift_as_changed_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    crds = {"nodepools.karpenter.sh": "drifted sha256:other"}
    monkeypatch.setattr("infra.core.crds.cluster.Cluster", Nothing)
    monkeypatch.setattr("infra.core.crds.observe.observe", lambda *_: Observation(crds=crds, applied={}))

    result = CrdProvider().read("boats", {**OLD, "applied": {}, "__provider": "a"})

    assert result.id == "boats"
    assert result.inputs == {**OLD, "crds": crds}
    assert result.outs == {**OLD, "crds": crds, "applied": {}}


def test_read_of_a_bundle_that_is_gone_has_no_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.core.crds.cluster.Cluster", Nothing)
    monkeypatch.setattr("infra.core.crds.observe.observe", lambda *_: None)

    assert CrdProvider().read("boats", OLD).id == ""


def test_only_unexpected_errors_keep_their_stack_trace() -> None:
    CrdProvider().configure(None)  # pyright: ignore[reportArgumentType] - what it is given does not matter
    logger = logging.getLogger("grpc._server")

    def passes(error: Exception) -> bool:
        info = (type(error), error, None)
        return bool(logger.filter(logger.makeRecord(logger.name, logging.ERROR, "", 0, "", (), info)))

    assert passes(ValueError("a bug"))
    assert not passes(FlotillaError("told in one line"))


def test_rendered_manifests_carry_the_label(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, Any] = {"metadata": {"name": "nodepools.karpenter.sh", "labels": {"a": "b"}}}
    monkeypatch.setattr("infra.core.crds.properties.manifests", lambda _: [made])

    manifest = desired(OLD)["nodepools.karpenter.sh"]

    assert manifest["metadata"]["labels"] == {"a": "b", "flotilla.dev/crd-bundle": "boats"}
    assert made["metadata"]["labels"] == {"a": "b"}
