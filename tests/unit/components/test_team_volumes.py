"""A team's volumes: claims of its own, and existing file systems as each driver wants them named."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from infra.components.tenancy.volumes.component import TeamVolumes, TeamVolumesArgs
from infra.settings.models.storage.storage import Storage
from infra.settings.models.teams import Team
from tests.unit.components.storage_classes import CASES, storage
from tests.unit.core.parsing import parse
from tests.unit.core.recording import Recording, record

TEAM: dict[str, Any] = {
    "name": "vision",
    "owner": "vera@example.com",
    "quota": {"cpu": 64, "memory": "512Gi", "gpus": 8, "pods": 100, "sharedStorage": "1Ti"},
    "limits": {
        "defaultRequest": {"cpu": "100m", "memory": "256Mi"},
        "default": {"memory": "4Gi"},
        "max": {"cpu": 48, "memory": "512Gi"},
    },
}

Source = dict[str, Any]
Mounted = tuple[str, dict[str, str], list[str] | None]

SOURCES: dict[str, tuple[Source, Mounted]] = {
    "efs": (
        {"fileSystemId": "fs-0123456789abcdef0", "path": "/data", "accessPointId": "fsap-0123456789abcdef0"},
        ("fs-0123456789abcdef0:/data:fsap-0123456789abcdef0", {}, ["tls"]),
    ),
    "fsx-lustre": (
        {"fileSystemId": "fs-0123456789abcdef0", "dnsName": "fs-0.fsx.eu-west-1.amazonaws.com", "mountName": "abcdef"},
        (
            "fs-0123456789abcdef0",
            {"dnsname": "fs-0.fsx.eu-west-1.amazonaws.com", "mountname": "abcdef"},
            ["flock"],
        ),
    ),
    "cephfs": (
        {"rootPath": "/volumes/data"},
        (
            "vision-data",
            {"clusterID": "rook-ceph", "fsName": "myfs", "staticVolume": "true", "rootPath": "/volumes/data"},
            None,
        ),
    ),
    "nfs": (
        {"server": "nfs.example.com", "share": "/exports/data"},
        ("nfs.example.com#exports/data#vision-data", {"server": "nfs.example.com", "share": "/exports/data"}, None),
    ),
    "filestore": (
        {"instance": "europe-west4-a/datasets", "share": "vol1", "address": "10.60.0.2"},
        ("modeInstance/europe-west4-a/datasets/vol1", {"ip": "10.60.0.2", "volume": "vol1"}, None),
    ),
    "mountpoint-s3": (
        {"bucket": "datasets", "prefix": "vision/", "region": "eu-west-1"},
        (
            "vision-data",
            {"bucketName": "datasets", "authenticationSource": "pod"},
            ["region eu-west-1", "read-only", "prefix vision/"],
        ),
    ),
    "gcsfuse": (
        {"bucket": "datasets", "folder": "vision/", "fileCacheCapacity": "50Gi"},
        ("datasets", {"fileCacheCapacity": "50Gi"}, ["only-dir=vision", "implicit-dirs"]),
    ),
    "azure-files": (
        {"resourceGroup": "ml", "storageAccount": "training", "share": "datasets"},
        (
            "ml#training#datasets#vision-data",
            {"resourceGroup": "ml", "storageAccount": "training", "shareName": "datasets", "protocol": "nfs"},
            ["nconnect=4", "noresvport", "actimeo=30"],
        ),
    ),
    "azure-blob": (
        {"resourceGroup": "ml", "storageAccount": "training", "container": "datasets"},
        (
            "training_datasets_vision-data",
            {"resourceGroup": "ml", "storageAccount": "training", "containerName": "datasets", "protocol": "fuse2"},
            None,
        ),
    ),
}


def declared(*, team: dict[str, Any] | None = None, **values: Any) -> Recording:
    settings, classes = parse(Team, **TEAM, **(team or {})), parse(Storage, **storage(**values))

    def declare() -> None:
        names = {each.name: pulumi.Output.from_input(each.name) for each in classes.classes}
        args = TeamVolumesArgs(settings=settings, storage=classes, namespace="vision", classes=names)
        TeamVolumes("vision-volumes", args)

    return record(declare)


def existing(driver: str, source: Source, **more: Any) -> dict[str, Any]:
    return {
        "name": "data",
        "storageClass": driver,
        "size": "1Ti",
        "teams": ["vision"],
        "source": {"driver": driver, **source},
        **more,
    }


def test_every_driver_that_mounts_what_exists_has_a_case() -> None:
    drivers = Storage.model_json_schema()["$defs"]["StaticVolume"]["properties"]["source"]["discriminator"]["mapping"]

    assert {*SOURCES, "local"} == set(drivers)


@pytest.mark.parametrize("driver", SOURCES)
def test_existing_file_system_is_named_as_its_driver_wants(driver: str) -> None:
    source, (handle, attributes, options) = SOURCES[driver]
    volume = declared(volumes=[existing(driver, source)]).one("PersistentVolume")["spec"]

    assert volume["csi"]["driver"] == CASES[driver].provisioner
    assert volume["csi"]["volumeHandle"] == handle
    assert volume["csi"].get("volumeAttributes", {}) == attributes
    assert volume.get("mountOptions") == options


def test_existing_file_system_is_bound_to_the_teams_claim_and_kept() -> None:
    recording = declared(volumes=[existing("nfs", SOURCES["nfs"][0])])
    volume, claim = recording.one("PersistentVolume"), recording.one("PersistentVolumeClaim")

    reference = volume["spec"]["claimRef"]
    assert (reference["namespace"], reference["name"]) == ("vision", "data")
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"] == "vision-data"
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert volume["spec"]["storageClassName"] == claim["spec"]["storageClassName"] == "nfs"
    assert volume["spec"]["csi"]["readOnly"] is True


def test_bucket_that_is_written_may_replace_files() -> None:
    source = {"bucket": "results", "region": "eu-west-1", "credentials": "driver"}
    volumes = [existing("mountpoint-s3", source, accessMode="ReadWriteMany", mountOptions=["uid=1000"])]
    volume = declared(volumes=volumes).one("PersistentVolume")["spec"]

    assert volume["mountOptions"] == ["region eu-west-1", "allow-delete", "uid=1000"]
    assert volume["csi"]["volumeAttributes"]["authenticationSource"] == "driver"
    assert "readOnly" not in volume["csi"]


def test_cephfs_is_mounted_with_the_nodes_secret_of_its_class() -> None:
    volume = declared(volumes=[existing("cephfs", {"rootPath": "/volumes/data"})]).one("PersistentVolume")

    assert volume["spec"]["csi"]["nodeStageSecretRef"] == {"name": "rook-csi-cephfs-node", "namespace": "rook-ceph"}


def test_disk_of_a_node_keeps_pods_on_that_node() -> None:
    disk = existing("local", {"node": "gpu-1", "path": "/mnt/nvme0"}, accessMode="ReadWriteOnce")
    volume = declared(volumes=[disk]).one("PersistentVolume")["spec"]
    (term,) = volume["nodeAffinity"]["required"]["nodeSelectorTerms"]

    assert volume["local"] == {"path": "/mnt/nvme0"}
    assert term["matchExpressions"] == [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["gpu-1"]}]


def test_other_teams_get_nothing() -> None:
    assert declared(volumes=[existing("nfs", SOURCES["nfs"][0], teams=["language"])]).kinds() == []


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ({"purpose": "checkpoints"}, ("efs", ["ReadWriteMany"])),
        ({"purpose": "data", "accessMode": "ReadOnlyMany"}, ("efs", ["ReadOnlyMany"])),
        ({"purpose": "scratch"}, ("fsx-lustre", ["ReadWriteMany"])),
        ({"purpose": "scratch", "storageClass": "ebs", "accessMode": "ReadWriteOnce"}, ("ebs", ["ReadWriteOnce"])),
    ],
)
def test_claim_goes_to_the_class_of_its_purpose(volume: dict[str, Any], expected: tuple[str, list[str]]) -> None:
    claim = declared(team={"volumes": [{"name": "work", "size": "2400Gi", **volume}]}).one("PersistentVolumeClaim")

    assert (claim["spec"]["storageClassName"], claim["spec"]["accessModes"]) == expected
    assert claim["spec"]["resources"]["requests"] == {"storage": "2400Gi"}
    assert claim["metadata"]["annotations"] == {"flotilla.dev/purpose-of-volume": volume["purpose"]}
