"""Storage: every class against its driver's documentation, defaults, snapshots, drivers and Ceph."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

import pytest

from infra import chart_sources
from infra.components.cluster.storage.component import Storage, StorageArgs
from infra.settings.models.storage.storage import DeclaredClass
from infra.settings.models.storage.storage import Storage as StorageSettings
from tests.unit.components.storage_classes import CASES, DRIVERS, storage
from tests.unit.core.parsing import parse
from tests.unit.core.recording import Recording, record

DEFAULT = "storageclass.kubernetes.io/is-default-class"
RELEASE = "kubernetes:helm.sh/v3:Release"

every = pytest.mark.parametrize("name", CASES)


@cache
def every_class() -> Recording:
    return declared()


def declared(**values: Any) -> Recording:
    settings = parse(StorageSettings, **storage(**values))
    return record(lambda: Storage("storage", StorageArgs(settings=settings, context="test")))


def storage_class(name: str, **more: Any) -> dict[str, Any]:
    if not more:
        return every_class().one("StorageClass", name)
    settings = {"name": name, **CASES[name].settings, **more}
    others = [each for each in storage()["classes"] if each["name"] != name]
    return declared(classes=[*others, settings]).one("StorageClass", settings["name"])


def charts(recording: Recording) -> dict[str, dict[str, Any]]:
    return {each.inputs["chart"]: each.inputs for each in recording.resources if each.type == RELEASE}


def test_every_driver_has_a_case() -> None:
    drivers = {get_args(kind.model_fields["driver"].annotation)[0] for kind in get_args(DeclaredClass)}

    assert {case.settings["driver"] for case in CASES.values()} == drivers


@every
def test_class_says_what_its_driver_documents(name: str) -> None:
    case, manifest = CASES[name], storage_class(name)

    assert manifest["provisioner"] == case.provisioner
    assert manifest.get("parameters", {}) == case.parameters
    assert set(case.parameters) <= case.documented, case.source
    assert manifest["volumeBindingMode"] == case.binding
    assert manifest["reclaimPolicy"] == case.reclaim
    assert manifest.get("allowVolumeExpansion", False) is case.expands


@every
def test_class_knows_the_access_modes_of_its_volumes(name: str) -> None:
    found = parse(StorageSettings, **storage()).find(name)

    assert found is not None
    assert (found.modes, found.dynamic) == (CASES[name].modes, CASES[name].dynamic)


def test_class_keeps_what_its_settings_say() -> None:
    manifest = storage_class(
        "efs",
        reclaimPolicy="Delete",
        mountOptions=["nfsvers=4.1", "region eu-west-1"],
        volumeBindingMode="WaitForFirstConsumer",
    )

    assert manifest["reclaimPolicy"] == "Delete"
    assert manifest["volumeBindingMode"] == "WaitForFirstConsumer"
    assert manifest["mountOptions"] == ["nfsvers=4.1", "region eu-west-1"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("azure-files", ["nconnect=4", "noresvport", "actimeo=30"]),
        ("fsx-lustre", ["flock"]),
        ("gcsfuse", ["implicit-dirs"]),
        ("efs", None),
    ],
)
def test_mount_options_are_those_the_driver_needs(name: str, options: list[str] | None) -> None:
    assert storage_class(name).get("mountOptions") == options


def test_efs_makes_files_belong_to_the_owner_that_is_set() -> None:
    parameters = storage_class("efs", uid=0, gid=1000, subPathPattern="${.PVC.namespace}/${.PVC.name}")["parameters"]

    assert (parameters["uid"], parameters["gid"]) == ("0", "1000")
    assert parameters["subPathPattern"] == "${.PVC.namespace}/${.PVC.name}"


def test_only_the_block_class_is_the_clusters_default() -> None:
    annotations = {
        each["metadata"]["name"]: each["metadata"]["annotations"] for each in every_class().all("StorageClass")
    }

    assert {name for name, given in annotations.items() if given[DEFAULT] == "true"} == {"ebs"}
    assert {name: given.get("flotilla.dev/default-for") for name, given in annotations.items()} == {
        **dict.fromkeys(CASES),
        "ebs": "block",
        "efs": "shared",
        "fsx-lustre": "scratch",
    }


def test_class_of_the_platform_is_referred_to_and_not_declared() -> None:
    existing = {"name": "premium-rwo", "driver": "existing", "accessModes": ["ReadWriteOnce"]}
    recording = declared(
        classes=[existing, *storage()["classes"]], defaults={**storage()["defaults"], "block": "premium-rwo"}
    )

    assert "premium-rwo" not in [each["metadata"]["name"] for each in recording.all("StorageClass")]


def test_each_driver_that_takes_snapshots_has_one_class() -> None:
    classes = {each["metadata"]["name"]: each for each in every_class().all("VolumeSnapshotClass")}

    assert {name: each.get("parameters", {}) for name, each in classes.items()} == {
        name: case.snapshots for name, case in CASES.items() if case.snapshots is not None
    }
    for name, each in classes.items():
        assert (each["driver"], each["deletionPolicy"]) == (CASES[name].provisioner, "Retain")


def test_no_snapshot_class_is_declared_where_nobody_takes_snapshots() -> None:
    assert declared(snapshots={"controller": "none"}).all("VolumeSnapshotClass") == []


def test_snapshot_controller_stands_by_and_classes_wait_for_its_schemas() -> None:
    recording = declared(snapshots={"controller": "install"})
    deployment = recording.one("Deployment", "snapshot-controller")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    (schemas,) = [each.urn for each in recording.resources if each.type.endswith(":CrdBundle")]

    assert deployment["spec"]["replicas"] == 2
    assert "--leader-election=true" in container["args"]
    assert schemas in recording.awaited("VolumeSnapshotClass", "ebs")


def test_nothing_is_installed_that_is_present() -> None:
    assert charts(every_class()) == {}
    assert every_class().all("Namespace") == []


@pytest.mark.parametrize(
    ("driver", "chart", "replicas"),
    [
        ("ebs", chart_sources.AWS_EBS_CSI, "replicaCount"),
        ("efs", chart_sources.AWS_EFS_CSI, "replicaCount"),
        ("fsxLustre", chart_sources.AWS_FSX_CSI, "replicaCount"),
        ("nfs", chart_sources.NFS_CSI, "replicas"),
    ],
)
def test_controllers_of_installed_drivers_survive_losing_one(
    driver: str, chart: chart_sources.ChartSource, replicas: str
) -> None:
    recording = declared(drivers={**DRIVERS, driver: {"source": "install"}})
    (found,) = charts(recording).values()

    assert (found["chart"], found["version"]) == (chart.chart, chart.version)
    assert found["values"]["controller"][replicas] == 2
    assert recording.one("Namespace")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"


@pytest.mark.parametrize(
    ("driver", "section"),
    [("ebs", "controller"), ("efs", "controller"), ("fsxLustre", "controller"), ("mountpointS3", "node")],
)
def test_drivers_act_on_aws_under_their_role(driver: str, section: str) -> None:
    role = "arn:aws:iam::111122223333:role/storage"
    (found,) = charts(declared(drivers={**DRIVERS, driver: {"source": "install", "role": role}})).values()

    assert found["values"][section]["serviceAccount"]["annotations"] == {"eks.amazonaws.com/role-arn": role}


def rook(**ceph: Any) -> Recording:
    return declared(drivers={**DRIVERS, "rook": {"source": "install"}}, ceph=ceph)


def test_rook_keeps_every_object_three_times_over_zones() -> None:
    recording = rook(kind="rook", nodePool="system")
    cluster, pool = recording.one("CephCluster")["spec"], recording.one("CephBlockPool", "replicapool")["spec"]
    files = recording.one("CephFilesystem", "myfs")["spec"]

    assert (cluster["mon"]["count"], cluster["mgr"]["count"]) == (3, 2)
    assert cluster["security"]["cephx"]["csi"]["keyType"] == "aes"
    assert (pool["failureDomain"], pool["replicated"]["size"]) == ("zone", 3)
    assert [(each["name"], each["replicated"]["size"]) for each in files["dataPools"]] == [("replicated", 3)]
    assert files["metadataServer"]["activeStandby"] is True
    assert recording.one("CephFilesystemSubVolumeGroup", "myfs-csi")["spec"]["filesystemName"] == "myfs"


def test_ceph_waits_for_rook_and_pools_wait_for_ceph() -> None:
    recording = rook(kind="rook", nodePool="system")
    (release,) = [each.urn for each in recording.resources if each.type == RELEASE]

    assert release in recording.awaited("CephCluster")
    assert recording.resource("CephCluster").urn in recording.awaited("CephBlockPool")


def test_external_ceph_is_only_connected() -> None:
    recording = rook(kind="external")

    assert recording.one("CephCluster")["spec"]["external"] == {"enable": True}
    assert "CephBlockPool" not in recording.kinds()


def test_ceph_is_reachable_by_nodes_in_its_closed_namespace() -> None:
    policy = rook(kind="rook", nodePool="system").one("NetworkPolicy", "ceph")["spec"]
    open_ports = [rule["ports"] for rule in policy["ingress"] if "from" not in rule]

    assert [[(each["port"], each.get("endPort")) for each in ports] for ports in open_ports] == [
        [(3300, None), (6789, None), (6800, 7568)]
    ]
