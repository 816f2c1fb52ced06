from __future__ import annotations

import pytest

from infra.core.crds.changes import ABSENT, Change, changes
from infra.core.crds.compare import Comparison, compare
from infra.core.crds.pins import Manifest
from infra.core.crds.properties import labelled
from tests.unit.crds_fakes import FakeCluster, bundle_inputs, crd, module_zip, source_of_zip


def test_equal_values_have_no_changes() -> None:
    assert not list(changes({"a": [{"name": "x"}], "b": None}, {"b": None, "a": [{"name": "x"}]}))


def test_changes_are_the_smallest_fields_that_differ() -> None:
    before = {"versions": [{"name": "v1", "served": True}, {"name": "v2", "served": True}], "gone": 1}
    after = {"versions": [{"name": "v2", "served": False}, {"name": "v1", "served": True}], "new": 2}

    assert list(changes(before, after)) == [
        Change(path="versions[v2].served", before=True, after=False),
        Change(path="gone", before=1, after=ABSENT),
        Change(path="new", before=ABSENT, after=2),
    ]


def test_changes_in_lists_without_names_are_by_position() -> None:
    assert list(changes(["a", "b"], ["a", "c", "d"], "enum")) == [
        Change(path="enum[1]", before="b", after="c"),
        Change(path="enum[2]", before=ABSENT, after="d"),
    ]


def test_change_of_shape_is_one_change() -> None:
    assert list(changes({"a": {}}, {"a": []})) == [Change(path="a", before={}, after=[])]


def test_null_is_not_absent() -> None:
    assert list(changes({"a": None}, {})) == [Change(path="a", before=None, after=ABSENT)]


def test_comparison_tells_created_changed_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeCluster()
    for old in (crd("boats"), crd("sails"), crd("oars")):
        cluster.apply(labelled(old, "boats"))
    cluster.edit("sails.example.org", scope="Cluster")
    wanted = [crd("boats"), crd("sails"), crd("masts")]

    def manifests(_: object) -> list[Manifest]:
        return wanted

    monkeypatch.setattr("infra.core.crds.properties.manifests", manifests)
    kept = {name: live["metadata"]["generation"] for name, live in cluster.crds.items()}

    assert compare(cluster, bundle_inputs(source_of_zip(module_zip(*wanted)))) == [
        Comparison(name="boats.example.org"),
        Comparison(
            name="sails.example.org",
            changes=(Change(path="spec.scope", before="Cluster", after="Namespaced"),),
        ),
        Comparison(name="masts.example.org", exists=False),
        Comparison(name="oars.example.org", wanted=False),
    ]
    assert {name: live["metadata"]["generation"] for name, live in cluster.crds.items()} == kept
