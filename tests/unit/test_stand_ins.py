"""Schemas that stand in for operators the sandbox does not run: makers' where pinned, open ones elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infra import chart_sources
from infra.core.crds.gosum import zip_path
from infra.core.crds.open import OPEN, Identity, open_crd
from ops.stand_ins import brought_by_charts, is_custom, missing
from tests.unit.crds_fakes import MODULE, VERSION, crd, module_zip, source_of_zip

ZIP = module_zip(crd("boats"), crd("sails"))


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirrored = tmp_path / "mirror" / "go" / zip_path(MODULE, VERSION)
    mirrored.parent.mkdir(parents=True)
    mirrored.write_bytes(ZIP)
    monkeypatch.setenv("FLOTILLA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("FLOTILLA_CACHE", str(tmp_path / "cache"))


def declared(api_version: str, kind: str, namespace: str | None = "harbour") -> dict[str, Any]:
    metadata = {"name": "one"} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def names(*objects: dict[str, Any], brought: tuple[str, ...] = ()) -> dict[str, bool]:
    """Return the CRDs that are missing, and of each whether it is open."""
    found = missing(objects, brought=lambda name: name in brought, pinned=[source_of_zip(ZIP)])
    return {each["metadata"]["name"]: OPEN in each["metadata"].get("annotations", {}) for each in found}


def test_makers_schema_is_taken_where_it_is_pinned() -> None:
    assert names(declared("example.org/v1", "Boat"), declared("example.com/v1", "Mast")) == {
        "boats.example.org": False,
        "masts.example.com": True,
    }


def test_what_somebody_brings_is_left_alone() -> None:
    assert names(declared("example.com/v1", "Mast"), brought=("masts.example.com",)) == {}


def test_kinds_of_an_installed_chart_are_its_own_to_bring() -> None:
    chart = chart_sources.KUEUE
    release = declared("helm.toolkit.fluxcd.io/v2", "HelmRelease")
    release["spec"] = {"chart": {"spec": {"chart": chart.chart, "version": chart.version}}}

    assert brought_by_charts([release, declared("v1", "Secret")]) == {"kueue.x-k8s.io"}
    assert brought_by_charts([declared("kueue.x-k8s.io/v1beta2", "LocalQueue")]) == set()


def test_kubernetes_own_kinds_and_those_for_a_reconciler_need_nothing() -> None:
    assert not names(
        declared("v1", "Secret"),
        declared("apps/v1", "Deployment"),
        declared("networking.k8s.io/v1", "NetworkPolicy"),
        declared("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
    )
    assert is_custom("snapshot.storage.k8s.io")


def test_every_version_and_scope_that_is_declared_is_served() -> None:
    crds = missing(
        [declared("example.com/v1beta1", "Mast", None), declared("example.com/v1", "Mast", None)],
        brought=lambda _: False,
        pinned=[],
    )

    (mast,) = crds
    assert mast["spec"]["scope"] == "Cluster"
    assert [(each["name"], each["served"]) for each in mast["spec"]["versions"]] == [("v1", True), ("v1beta1", True)]
    assert sum(each["storage"] for each in mast["spec"]["versions"]) == 1


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Kafka", "kafkas"),
        ("BackupPolicy", "backuppolicies"),
        ("VolumeSnapshotClass", "volumesnapshotclasses"),
        ("Gateway", "gateways"),
        ("Mesh", "meshes"),
    ],
)
def test_kinds_are_called_as_their_makers_do(kind: str, plural: str) -> None:
    identity = Identity(group="example.com", kind=kind, namespaced=True)

    assert open_crd(identity, ["v1"])["spec"]["names"]["plural"] == plural
    assert identity.name == f"{plural}.example.com"
