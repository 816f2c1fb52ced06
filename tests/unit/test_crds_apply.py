from __future__ import annotations

import pytest

from infra.core.crds import apply as applying
from infra.core.crds.apply import apply
from infra.core.crds.live import live_fingerprint, purged
from infra.core.crds.pins import Manifest
from infra.core.crds.properties import BUNDLE_LABEL, Applied, Properties
from infra.errors import FlotillaError
from tests.unit.crds_fakes import FakeCluster, bundle_inputs, crd, module_zip, source_of_zip

BOATS, SAILS = "boats.example.org", "sails.example.org"


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster()


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> Declared:
    return Declared(monkeypatch)


class Declared:
    """Declares bundles whose schemas are at hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.fetches = 0

    def __call__(self, *crds: Manifest, **changed: object) -> Properties:
        source = source_of_zip(module_zip(*crds))

        def manifests(_: object) -> list[Manifest]:
            self.fetches += 1
            return list(crds)

        self._monkeypatch.setattr("infra.core.crds.properties.manifests", manifests)
        return bundle_inputs(source, **changed)


def up(cluster: FakeCluster, properties: Properties, before: dict[str, Applied] | None = None) -> dict[str, Applied]:
    cluster.calls.clear()
    return apply(cluster, properties, before or {}).applied


def changing(cluster: FakeCluster) -> list[str]:
    return sorted(call for call in cluster.calls if call.split()[0] in {"apply", "replace", "delete"})


def test_create_applies_every_crd_with_the_bundles_label(cluster: FakeCluster, declared: Declared) -> None:
    properties = declared(crd("boats"), crd("sails"))

    applied = up(cluster, properties)

    assert changing(cluster) == [f"apply {BOATS}", f"apply {SAILS}"]
    assert {live["metadata"]["labels"][BUNDLE_LABEL] for live in cluster.crds.values()} == {"boats"}
    assert cluster.crds[BOATS]["metadata"]["annotations"] == {"made-by": "a generator"}
    assert {name: record["pin"] for name, record in applied.items()} == properties["crds"]


def test_everything_is_tried_before_anything_is_applied(cluster: FakeCluster, declared: Declared) -> None:
    cluster.refuse = {SAILS}

    with pytest.raises(FlotillaError, match="refused"):
        up(cluster, declared(crd("boats"), crd("sails")))
    assert not changing(cluster)
    assert not cluster.crds


def test_update_without_differences_changes_and_fetches_nothing(cluster: FakeCluster, declared: Declared) -> None:
    properties = declared(crd("boats"), crd("sails"))
    before = up(cluster, properties)
    declared.fetches = 0

    assert up(cluster, properties, before) == before
    assert cluster.calls == ["list"]
    assert declared.fetches == 0


def test_update_applies_only_what_changed(cluster: FakeCluster, declared: Declared) -> None:
    before = up(cluster, declared(crd("boats"), crd("sails")))

    after = up(cluster, declared(crd("boats"), crd("sails", scope="Cluster")), before)

    assert changing(cluster) == [f"apply {SAILS}"]
    assert after[BOATS] == before[BOATS]
    assert after[SAILS]["pin"] != before[SAILS]["pin"]


def test_update_mends_what_was_edited_or_deleted(cluster: FakeCluster, declared: Declared) -> None:
    properties = declared(crd("boats"), crd("sails"), crd("oars"))
    before = up(cluster, properties)
    cluster.edit(BOATS, scope="Cluster")
    del cluster.crds[SAILS]

    after = up(cluster, properties, before)

    assert changing(cluster) == [f"apply {BOATS}", f"apply {SAILS}"]
    assert cluster.crds[BOATS]["spec"]["scope"] == "Namespaced"
    assert {name: record["live"] for name, record in after.items()} == {
        name: record["live"] for name, record in before.items()
    }


def test_update_takes_away_what_was_added_by_hand(cluster: FakeCluster, declared: Declared) -> None:
    properties = declared(crd("boats"))
    before = up(cluster, properties)
    names = cluster.crds[BOATS]["spec"]["names"]
    cluster.edit(BOATS, names={**names, "shortNames": ["bt"]})

    after = up(cluster, properties, before)

    assert changing(cluster) == [f"apply {BOATS}", f"replace {BOATS}"]
    assert "shortNames" not in cluster.crds[BOATS]["spec"]["names"]
    assert after[BOATS]["live"] == before[BOATS]["live"]


def test_crd_that_left_the_bundle_is_removed(cluster: FakeCluster, declared: Declared) -> None:
    before = up(cluster, declared(crd("boats"), crd("sails")))

    after = up(cluster, declared(crd("boats")), before)

    assert changing(cluster) == [f"delete {SAILS}"]
    assert list(after) == [BOATS]


def test_crd_that_left_the_bundle_but_is_in_use_stops_the_whole_update(
    cluster: FakeCluster, declared: Declared
) -> None:
    before = up(cluster, declared(crd("boats"), crd("sails")))
    cluster.data["/apis/example.org/v1/sails"] = ["team/jib"]

    with pytest.raises(FlotillaError, match=r"sails\.example\.org \(1, for example team/jib\)"):
        up(cluster, declared(crd("boats", scope="Cluster")), before)
    assert not changing(cluster)


def test_version_that_objects_are_stored_in_may_not_vanish(cluster: FakeCluster, declared: Declared) -> None:
    before = up(cluster, declared(crd("boats", versions=("v1", "v2"))))

    with pytest.raises(FlotillaError, match=r"may still be stored as v1, .*\(v2\).*nothing was applied"):
        up(cluster, declared(crd("boats", versions=("v2",), storage="v2"), crd("sails")), before)
    assert not changing(cluster)


def test_unconverted_change_of_the_storage_version_is_refused_while_there_are_objects(
    cluster: FakeCluster, declared: Declared
) -> None:
    both = ("v1", "v2")
    before = up(cluster, declared(crd("boats", versions=both)))
    moved = crd("boats", versions=both, storage="v2")

    cluster.data["/apis/example.org/v1/boats"] = ["team/tug"]
    with pytest.raises(FlotillaError, match=r"from v1 to v2, .*\(team/tug\).*allow_storage_change"):
        up(cluster, declared(moved), before)

    up(cluster, declared(moved, allowStorageChange=True), before)
    assert changing(cluster) == [f"apply {BOATS}"]


def test_change_of_the_storage_version_passes_without_objects(cluster: FakeCluster, declared: Declared) -> None:
    both = ("v1", "v2")
    before = up(cluster, declared(crd("boats", versions=both)))

    up(cluster, declared(crd("boats", versions=both, storage="v2")), before)

    assert changing(cluster) == [f"apply {BOATS}"]


def test_change_of_the_storage_version_passes_with_a_converter(cluster: FakeCluster, declared: Declared) -> None:
    both = ("v1", "v2")
    before = up(cluster, declared(crd("boats", versions=both)))
    cluster.data["/apis/example.org/v1/boats"] = ["team/tug"]

    up(cluster, declared(crd("boats", versions=both, storage="v2", conversion=_webhook())), before)

    assert changing(cluster) == [f"apply {BOATS}"]


def test_crd_of_somebody_else_is_taken_over_and_told(cluster: FakeCluster, declared: Declared) -> None:
    cluster.apply(crd("boats"))

    outcome = apply(cluster, declared(crd("boats"), crd("sails")), {})

    assert outcome.notes == [f"{BOATS} was there already and is taken over from its owner"]
    assert cluster.crds[BOATS]["metadata"]["labels"][BUNDLE_LABEL] == "boats"


def test_names_that_clash_are_told(cluster: FakeCluster, declared: Declared, monkeypatch: pytest.MonkeyPatch) -> None:
    apply_plainly = cluster.apply

    def clashing(manifest: Manifest, *, dry_run: bool = False) -> Manifest:
        live = apply_plainly(manifest, dry_run=dry_run)
        conditions = [{"type": "NamesAccepted", "status": "False", "message": '"boats" is already in use'}]
        return {**live, "status": {"conditions": conditions}}

    monkeypatch.setattr(cluster, "apply", clashing)
    with pytest.raises(FlotillaError, match=r'boats\.example\.org: .* "boats" is already in use'):
        up(cluster, declared(crd("boats")))


def test_crd_that_is_never_served_is_told(
    cluster: FakeCluster, declared: Declared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(applying, "_ESTABLISHED_WITHIN_SECONDS", 0.0)
    monkeypatch.setattr(applying, "is_established", lambda _: False)

    with pytest.raises(FlotillaError, match="not served 0 s after it was applied"):
        up(cluster, declared(crd("boats")))


def test_certificate_authority_that_others_inject_is_not_ours() -> None:
    plain = crd("boats", conversion=_webhook())
    injected = crd("boats", conversion=_webhook(caBundle="cGVt"))

    assert live_fingerprint(injected) == live_fingerprint(plain)
    assert purged(injected, plain) is None


def test_purging_keeps_the_injected_certificate_authority() -> None:
    plain = crd("boats", conversion=_webhook())
    injected = crd("boats", conversion=_webhook(caBundle="cGVt"))
    injected["spec"]["names"]["categories"] = ["all"]

    clean = purged(injected, plain)

    assert clean is not None
    assert "categories" not in clean["spec"]["names"]
    assert clean["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] == "cGVt"


def _webhook(**client_config: str) -> dict[str, object]:
    service = {"service": {"name": "converter", "namespace": "boats"}}
    return {
        "strategy": "Webhook",
        "webhook": {"clientConfig": {**service, **client_config}, "conversionReviewVersions": ["v1"]},
    }
