"""The sandbox's drivers: a volume for each claim that the control plane asks one for, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from sandbox.agent.api import Api, ApiError
from sandbox.agent.provisioner import SIMULATED, Provisioner, claim_folder, volume_for, wants_growth, wants_volume

Json = dict[str, Any]

ASKED = {"volume.kubernetes.io/storage-provisioner": "efs.csi.aws.com"}
NODE: Json = {"metadata": {"labels": {"topology.kubernetes.io/zone": "b", "kubernetes.io/hostname": "cpu-1"}}}


def claim(annotations: Json | None = None, *, size: str = "1Gi", volume: str = "", capacity: str = "") -> Json:
    return {
        "metadata": {"name": "work", "namespace": "vision", "uid": "1-2", "annotations": annotations or {}},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": size}},
            "storageClassName": "shared",
            **({"volumeName": volume} if volume else {}),
        },
        "status": {"phase": "Bound", "capacity": {"storage": capacity}} if capacity else {"phase": "Pending"},
    }


def storage_class(provisioner: str = "efs.csi.aws.com", **more: Any) -> Json:
    return {"metadata": {"name": "shared"}, "provisioner": provisioner, "reclaimPolicy": "Retain", **more}


class FakeApi:
    """Holds objects by path and keeps what is created, changed and deleted."""

    def __init__(self, objects: Json) -> None:
        self.objects = objects
        self.created: list[Json] = []
        self.changed: dict[str, Json] = {}
        self.deleted: list[str] = []
        self.refuse: ApiError | None = None

    def get(self, path: str) -> Json:
        if path not in self.objects:
            raise ApiError(404, "not found")
        return self.objects[path]

    def create(self, _path: str, body: Json) -> Json:
        if self.refuse:
            raise self.refuse
        self.created.append(body)
        return body

    def patch(self, path: str, body: Json) -> Json:
        self.changed[path] = body
        return body

    def delete(self, path: str, _body: Json) -> Json:
        self.deleted.append(path)
        return {}


def provisioner(api: FakeApi, folder: Path = Path("/sandbox")) -> Provisioner:
    return Provisioner(cast("Api", api), folder)


CLASS = {"/apis/storage.k8s.io/v1/storageclasses/shared": storage_class()}


@pytest.mark.parametrize(
    ("pending", "wants"),
    [
        (claim(ASKED), True),
        (claim(), False),
        (claim(ASKED, volume="pv"), False),
    ],
)
def test_volume_is_made_only_when_the_control_plane_asks(pending: Json, wants: bool) -> None:
    assert wants_volume(pending) is wants


def test_volume_is_what_the_claim_asks_of_its_class() -> None:
    volume = volume_for(claim(ASKED), storage_class(mountOptions=["tls"]), None, Path("/sandbox/claims/vision_work"))
    spec = volume["spec"]

    assert volume["metadata"]["name"] == "pvc-1-2"
    assert volume["metadata"]["annotations"] == {"pv.kubernetes.io/provisioned-by": "efs.csi.aws.com"}
    assert (spec["capacity"], spec["accessModes"]) == ({"storage": "1Gi"}, ["ReadWriteMany"])
    assert (spec["persistentVolumeReclaimPolicy"], spec["mountOptions"]) == ("Retain", ["tls"])
    assert spec["claimRef"]["uid"] == "1-2"
    assert "nodeAffinity" not in spec


@pytest.mark.parametrize(
    ("driver", "key", "value"),
    [
        ("ebs.csi.aws.com", "topology.kubernetes.io/zone", "b"),
        ("rancher.io/local-path", "kubernetes.io/hostname", "cpu-1"),
    ],
)
def test_volume_that_waited_for_its_pod_stays_where_the_pod_runs(driver: str, key: str, value: str) -> None:
    volume = volume_for(claim(ASKED), storage_class(driver), NODE, Path("/f"))
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]

    assert term["matchExpressions"] == [{"key": key, "operator": "In", "values": [value]}]


def test_claim_gets_its_volume() -> None:
    api = FakeApi(CLASS)
    provisioner(api).on_claim(None, claim(ASKED))

    assert [volume["spec"]["storageClassName"] for volume in api.created] == ["shared"]
    assert api.created[0]["spec"]["hostPath"]["path"] == "/sandbox/claims/vision_work"


@pytest.mark.parametrize("status", [404, 409])
def test_volume_that_is_there_or_lost_its_class_is_no_failure(status: int) -> None:
    api = FakeApi(CLASS)
    api.refuse = ApiError(status, "")

    provisioner(api).on_claim(None, claim(ASKED))


def test_refusal_is_told_so_that_the_watch_tries_again() -> None:
    api = FakeApi(CLASS)
    api.refuse = ApiError(500, "no leader")

    with pytest.raises(ApiError, match="no leader"):
        provisioner(api).on_claim(None, claim(ASKED))


def test_claim_that_is_being_deleted_gets_nothing() -> None:
    api, leaving = FakeApi(CLASS), claim(ASKED)
    leaving["metadata"]["deletionTimestamp"] = "now"
    provisioner(api).on_claim(None, leaving)
    provisioner(api).on_claim(leaving, None)

    assert api.created == []


def test_bound_claim_grows_with_its_volume() -> None:
    volume = {"metadata": {"name": "pv", "labels": {SIMULATED: "true"}}}
    api = FakeApi({"/api/v1/persistentvolumes/pv": volume})
    larger = claim(volume="pv", size="2Gi", capacity="1Gi")
    provisioner(api).on_claim(None, larger)

    assert wants_growth(larger)
    assert api.changed == {
        "/api/v1/persistentvolumes/pv": {"spec": {"capacity": {"storage": "2Gi"}}},
        "/api/v1/namespaces/vision/persistentvolumeclaims/work/status": {"status": {"capacity": {"storage": "2Gi"}}},
    }


def test_volume_of_somebody_else_does_not_grow() -> None:
    api = FakeApi({"/api/v1/persistentvolumes/pv": {"metadata": {"name": "pv"}}})
    provisioner(api).on_claim(None, claim(volume="pv", size="2Gi", capacity="1Gi"))

    assert api.changed == {}


@pytest.mark.parametrize(
    ("policy", "phase", "removed"),
    [("Delete", "Released", True), ("Retain", "Released", False), ("Delete", "Bound", False)],
)
def test_volume_and_its_folder_go_when_their_class_says_so(
    policy: str, phase: str, removed: bool, tmp_path: Path
) -> None:
    folder = claim_folder(tmp_path, "vision", "work")
    folder.mkdir(parents=True)
    volume = volume_for(claim(ASKED), storage_class(reclaimPolicy=policy), None, folder) | {"status": {"phase": phase}}
    api = FakeApi({})
    provisioner(api, tmp_path).on_volume(None, volume)

    assert api.deleted == (["/api/v1/persistentvolumes/pvc-1-2"] if removed else [])
    assert folder.exists() is not removed
