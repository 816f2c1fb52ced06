from __future__ import annotations

import pytest

from infra.core.crds.apply import apply
from infra.core.crds.observe import Observation, observe
from infra.core.crds.pins import Manifest
from infra.core.crds.properties import BUNDLE_LABEL, Properties
from infra.core.crds.remove import plan_removal, remove
from infra.errors import FlotillaError
from tests.unit.crds_fakes import FakeCluster, bundle_inputs, crd, module_zip, source_of_zip

CRDS = [crd("boats"), crd("sails")]
BOATS, SAILS = "boats.example.org", "sails.example.org"


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster()


@pytest.fixture
def applied(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> Properties:
    def manifests(_: object) -> list[Manifest]:
        return CRDS

    monkeypatch.setattr("infra.core.crds.properties.manifests", manifests)
    properties = bundle_inputs(source_of_zip(module_zip(*CRDS)))
    outcome = apply(cluster, properties, {})
    cluster.calls.clear()
    return {**properties, "applied": outcome.applied}


def seen(cluster: FakeCluster, applied: Properties) -> Observation:
    observation = observe(cluster, applied)
    assert observation is not None
    return observation


def test_untouched_bundle_costs_one_small_request(cluster: FakeCluster, applied: Properties) -> None:
    observation = seen(cluster, applied)

    assert observation.crds == applied["crds"]
    assert observation.applied == applied["applied"]
    assert cluster.calls == ["list"]


def test_edited_crd_shows_by_name(cluster: FakeCluster, applied: Properties) -> None:
    cluster.edit(BOATS, scope="Cluster")

    observation = seen(cluster, applied)

    assert observation.crds[BOATS].startswith("drifted sha256:")
    assert observation.crds[SAILS] == applied["crds"][SAILS]
    assert cluster.calls == ["list", f"get {BOATS}"]


def test_deleted_crd_is_missing(cluster: FakeCluster, applied: Properties) -> None:
    del cluster.crds[BOATS]

    assert list(seen(cluster, applied).crds) == [SAILS]


def test_crd_without_our_label_has_drifted(cluster: FakeCluster, applied: Properties) -> None:
    del cluster.crds[BOATS]["metadata"]["labels"][BUNDLE_LABEL]

    assert seen(cluster, applied).crds[BOATS].startswith("drifted")


def test_drift_that_was_undone_is_no_drift(cluster: FakeCluster, applied: Properties) -> None:
    cluster.edit(BOATS, scope="Cluster")
    drifted = {**applied, "crds": seen(cluster, applied).crds}
    cluster.edit(BOATS, scope="Namespaced")

    observation = seen(cluster, drifted)

    assert observation.crds == applied["crds"]
    assert observation.applied == applied["applied"]


def test_crd_made_anew_with_the_same_content_is_ours_again(cluster: FakeCluster, applied: Properties) -> None:
    cluster.recreate(BOATS)

    observation = seen(cluster, applied)

    assert observation.crds == applied["crds"]
    assert observation.applied[BOATS]["revision"] != applied["applied"][BOATS]["revision"]
    assert set(plan_removal(cluster, applied, observation.applied).uids) == {BOATS, SAILS}


def test_bundle_of_which_nothing_is_left_is_gone(cluster: FakeCluster, applied: Properties) -> None:
    cluster.crds.clear()

    assert observe(cluster, applied) is None


def test_delete_removes_what_is_ours(cluster: FakeCluster, applied: Properties) -> None:
    remove(cluster, plan_removal(cluster, applied, applied["applied"]))

    assert not cluster.crds


def test_delete_is_refused_while_custom_resources_exist(cluster: FakeCluster, applied: Properties) -> None:
    cluster.data["/apis/example.org/v1/boats"] = ["team/tug", "team/ferry"]

    with pytest.raises(FlotillaError) as caught:
        plan_removal(cluster, applied, applied["applied"])

    message = str(caught.value)
    assert "context test: custom resources would be deleted" in message
    assert "boats.example.org (2, for example team/tug). Nothing was deleted" in message
    assert "kubectl delete boats.example.org --all -A" in message


def test_delete_takes_custom_resources_along_only_when_told(cluster: FakeCluster, applied: Properties) -> None:
    cluster.data["/apis/example.org/v1/boats"] = ["team/tug"]
    told: Properties = {**applied, "destroyWithData": True}

    remove(cluster, plan_removal(cluster, told, told["applied"]))

    assert not cluster.crds


def test_delete_is_refused_when_objects_cannot_be_counted(cluster: FakeCluster, applied: Properties) -> None:
    for version in cluster.crds[BOATS]["spec"]["versions"]:
        version["served"] = False

    with pytest.raises(FlotillaError, match=r"boats\.example\.org \(unknown: no version is served\)"):
        plan_removal(cluster, applied, applied["applied"])


def test_delete_leaves_alone_what_is_not_ours(cluster: FakeCluster, applied: Properties) -> None:
    cluster.crds[BOATS]["metadata"]["labels"][BUNDLE_LABEL] = "fleet"
    cluster.recreate(SAILS)

    plan = plan_removal(cluster, applied, applied["applied"])

    assert not plan.uids
    assert plan.notes == [
        "boats.example.org is left alone: it belongs to fleet",
        "sails.example.org is left alone: it was deleted and made anew since",
    ]


def test_delete_of_what_is_gone_is_done(cluster: FakeCluster, applied: Properties) -> None:
    cluster.crds.clear()

    assert not plan_removal(cluster, applied, applied["applied"]).uids


def test_delete_that_hangs_on_finalizers_says_so(
    cluster: FakeCluster, applied: Properties, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.core.crds.remove._GONE_WITHIN_SECONDS", 0.0)
    monkeypatch.setattr(cluster, "delete", lambda *_: None)

    with pytest.raises(FlotillaError, match=r"still being deleted .* finalizers"):
        remove(cluster, plan_removal(cluster, applied, applied["applied"]))
