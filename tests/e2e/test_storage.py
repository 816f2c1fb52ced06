"""Claims of every storage class bind in the sandbox, by the control plane's own controllers and simulated drivers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi
import pytest

from infra.components.cluster.storage.component import Storage, StorageArgs
from infra.components.tenancy.volumes.component import TeamVolumes, TeamVolumesArgs
from infra.settings.models.storage.storage import Storage as StorageSettings
from infra.settings.models.teams import Team
from sandbox.agent.provisioner import SIMULATED
from tests.e2e.objects import eventually, namespace, pod
from tests.unit.components.storage_classes import CASES, storage
from tests.unit.components.test_team_volumes import SOURCES, TEAM, existing
from tests.unit.core.parsing import parse
from tests.unit.core.recording import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.api import ApiClient, Json
    from sandbox.cluster import Sandbox

pytestmark = pytest.mark.e2e

CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
VOLUMES = "/api/v1/persistentvolumes"
DYNAMIC = [name for name, case in CASES.items() if case.dynamic]


@pytest.fixture(scope="module")
def api(sandbox: Sandbox) -> Iterator[ApiClient]:
    """Yield the administrator's client of a cluster that has every class, exactly as it is declared."""
    settings = parse(StorageSettings, **storage())
    classes = record(lambda: Storage("storage", StorageArgs(settings=settings, context="test"))).all("StorageClass")
    with sandbox.api() as client:
        for each in classes:
            client.create(CLASSES, each)
        yield client
        for each in classes:
            client.delete(f"{CLASSES}/{each['metadata']['name']}")


@pytest.fixture
def place(api: ApiClient) -> Iterator[str]:
    """Yield a namespace; what was bound in it is removed afterwards, volumes that outlive their claims included."""
    name = namespace(api)
    yield name
    api.delete(f"/api/v1/namespaces/{name}")
    eventually(lambda: api.find(f"/api/v1/namespaces/{name}") is None)
    for volume in api.get(VOLUMES)["items"]:
        if volume["spec"]["claimRef"]["namespace"] == name:
            api.delete(f"{VOLUMES}/{volume['metadata']['name']}")


def claims(place: str) -> str:
    return f"/api/v1/namespaces/{place}/persistentvolumeclaims"


def claim(storage_class: str | None, mode: str, **spec: Any) -> Json:
    """Return a claim of 1200 GiB, which every driver makes."""
    named = {"storageClassName": storage_class} if storage_class else {}
    resources = {"requests": {"storage": "1200Gi"}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "work"},
        "spec": {"accessModes": [mode], "resources": resources, **named, **spec},
    }


def bound(api: ApiClient, place: str, name: str = "work") -> bool:
    return api.get(f"{claims(place)}/{name}")["status"].get("phase") == "Bound"


def volume_of(api: ApiClient, place: str) -> Json:
    return api.get(f"{VOLUMES}/{api.get(f'{claims(place)}/work')['spec']['volumeName']}")


def mounting_pod() -> Json:
    volume = {"name": "work", "persistentVolumeClaim": {"claimName": "work"}}
    return pod("user", volumes=[volume])


@pytest.mark.parametrize("name", DYNAMIC)
def test_claim_of_every_class_binds(api: ApiClient, place: str, name: str) -> None:
    case, mode = CASES[name], "ReadWriteMany" if "ReadWriteMany" in CASES[name].modes else "ReadWriteOnce"
    api.create(claims(place), claim(name, mode))
    if case.binding == "WaitForFirstConsumer":
        api.create(f"/api/v1/namespaces/{place}/pods", mounting_pod())
    eventually(lambda: bound(api, place))

    volume = volume_of(api, place)
    assert volume["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] == case.provisioner
    assert volume["metadata"]["labels"] == {SIMULATED: "true"}
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == case.reclaim
    assert volume["spec"]["accessModes"] == [mode]


def test_claim_that_names_no_class_gets_a_disk(api: ApiClient, place: str) -> None:
    api.create(claims(place), claim(None, "ReadWriteOnce"))
    api.create(f"/api/v1/namespaces/{place}/pods", mounting_pod())
    eventually(lambda: bound(api, place))

    assert volume_of(api, place)["spec"]["storageClassName"] == "ebs"


def test_disk_lies_in_the_zone_of_its_pod(api: ApiClient, place: str) -> None:
    api.create(claims(place), claim("ebs", "ReadWriteOnce"))
    assert api.get(f"{claims(place)}/work")["status"]["phase"] == "Pending"
    api.create(f"/api/v1/namespaces/{place}/pods", mounting_pod())
    eventually(lambda: bound(api, place))
    eventually(lambda: "nodeName" in api.get(f"/api/v1/namespaces/{place}/pods/user")["spec"])

    node = api.get(f"/api/v1/nodes/{api.get(f'/api/v1/namespaces/{place}/pods/user')['spec']['nodeName']}")
    (term,) = volume_of(api, place)["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    (zone,) = term["matchExpressions"]
    assert zone["values"] == [node["metadata"]["labels"]["topology.kubernetes.io/zone"]]


@pytest.mark.parametrize("driver", [*SOURCES, "local"])
def test_existing_file_system_binds_to_the_teams_claim(api: ApiClient, place: str, driver: str) -> None:
    source = SOURCES[driver][0] if driver in SOURCES else {"node": "system-0", "path": "/mnt/disk"}
    mode = "ReadWriteOnce" if driver == "local" else "ReadOnlyMany"
    settings = parse(Team, **TEAM)
    classes = parse(StorageSettings, **storage(volumes=[existing(driver, source, accessMode=mode)]))

    def declare() -> None:
        names = {each.name: pulumi.Output.from_input(each.name) for each in classes.classes}
        args = TeamVolumesArgs(settings=settings, storage=classes, namespace=place, classes=names)
        TeamVolumes("volumes", args)

    declared = record(declare)
    api.create(VOLUMES, declared.one("PersistentVolume"))
    api.create(claims(place), declared.one("PersistentVolumeClaim"))
    if driver == "local":
        claimed = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
        api.create(f"/api/v1/namespaces/{place}/pods", pod("user", volumes=[claimed]))
    eventually(lambda: bound(api, place, "data"))

    volume = api.get(f"{VOLUMES}/vision-data")
    assert volume["spec"]["claimRef"]["namespace"] == place
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"


def test_claim_grows_where_its_class_lets_it(api: ApiClient, place: str) -> None:
    api.create(claims(place), claim("nfs", "ReadWriteMany"))
    eventually(lambda: bound(api, place))
    api.patch(f"{claims(place)}/work", {"spec": {"resources": {"requests": {"storage": "2400Gi"}}}})

    eventually(lambda: api.get(f"{claims(place)}/work")["status"]["capacity"]["storage"] == "2400Gi")
    assert volume_of(api, place)["spec"]["capacity"]["storage"] == "2400Gi"


@pytest.mark.parametrize(("name", "kept"), [("nfs", True), ("local-path", False)])
def test_data_outlives_its_claim_where_its_class_retains(api: ApiClient, place: str, name: str, kept: bool) -> None:
    api.create(claims(place), claim(name, "ReadWriteOnce"))
    user = f"/api/v1/namespaces/{place}/pods"
    api.create(user, mounting_pod())
    eventually(lambda: bound(api, place))
    volume = volume_of(api, place)["metadata"]["name"]
    api.delete(f"{user}/user", {"gracePeriodSeconds": 0})
    api.delete(f"{claims(place)}/work")
    eventually(lambda: api.find(f"{claims(place)}/work") is None)

    if kept:
        eventually(lambda: api.get(f"{VOLUMES}/{volume}")["status"]["phase"] == "Released")
    else:
        eventually(lambda: api.find(f"{VOLUMES}/{volume}") is None)


def test_status_says_that_volumes_are_simulated(api: ApiClient, place: str, sandbox: Sandbox) -> None:
    api.create(claims(place), claim("nfs", "ReadWriteMany"))
    eventually(lambda: bound(api, place))

    assert sandbox.status().simulated_volumes >= 1
