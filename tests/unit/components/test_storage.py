"""Storage classes by driver, held against the drivers' own parameter tables.

Sources: aws-efs-csi-driver `docs/parameters.md` (v3.4.1);
rook `deploy/examples/csi/cephfs/storageclass.yaml` (v1.20.6); csi-driver-nfs `docs/driver-parameters.md`.
"""

from __future__ import annotations

from typing import Any

import pytest

from infra.components.cluster.storage import SharedStorage, SharedStorageArgs
from infra.settings.models.storage import SharedStorage as SharedStorageSettings
from tests.unit.core.parsing import parse
from tests.unit.core.recording import record

EFS = {"driver": "efs", "fileSystemId": "fs-0123456789abcdef0"}
CEPHFS = {"driver": "cephfs", "clusterId": "rook-ceph", "fsName": "shared", "pool": "shared-replicated"}
NFS = {"driver": "nfs", "server": "nfs.example.com", "share": "/exports"}
DRIVERS = {"efs": EFS, "cephfs": CEPHFS, "nfs": NFS}

SECRET = "csi.storage.k8s.io/{}-secret-{}"
PROVISIONER, NODE = "rook-csi-cephfs-provisioner", "rook-csi-cephfs-node"

PARAMETERS: dict[str, tuple[str, dict[str, str]]] = {
    "efs": (
        "efs.csi.aws.com",
        {
            "provisioningMode": "efs-ap",
            "fileSystemId": "fs-0123456789abcdef0",
            "directoryPerms": "700",
            "basePath": "/flotilla",
            "gidRangeStart": "50000",
            "gidRangeEnd": "7000000",
        },
    ),
    "cephfs": (
        "rook-ceph.cephfs.csi.ceph.com",
        {
            "clusterID": "rook-ceph",
            "fsName": "shared",
            "pool": "shared-replicated",
            **{
                SECRET.format(step, part): value
                for step, secret in {
                    "provisioner": PROVISIONER,
                    "controller-expand": PROVISIONER,
                    "controller-publish": PROVISIONER,
                    "node-stage": NODE,
                }.items()
                for part, value in (("name", secret), ("namespace", "rook-ceph"))
            },
        },
    ),
    "nfs": ("nfs.csi.k8s.io", {"server": "nfs.example.com", "share": "/exports"}),
}


def storage_class(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    settings: Any = parse(SharedStorageSettings, **values, **more)  # pyright: ignore[reportArgumentType] - a union
    return record(lambda: SharedStorage("shared-storage", SharedStorageArgs(settings=settings))).one("StorageClass")


@pytest.mark.parametrize("driver", DRIVERS)
def test_driver_gets_the_parameters_it_documents(driver: str) -> None:
    manifest = storage_class(DRIVERS[driver])

    assert (manifest["provisioner"], manifest["parameters"]) == PARAMETERS[driver]


def test_efs_makes_files_belong_to_the_owner_that_is_set() -> None:
    parameters = storage_class(EFS, uid=0, gid=1000)["parameters"]

    assert (parameters["uid"], parameters["gid"]) == ("0", "1000")


@pytest.mark.parametrize("driver", DRIVERS)
def test_data_outlives_its_claim_unless_said_otherwise(driver: str) -> None:
    assert storage_class(DRIVERS[driver])["reclaimPolicy"] == "Retain"
    assert storage_class(DRIVERS[driver], reclaimPolicy="Delete")["reclaimPolicy"] == "Delete"


@pytest.mark.parametrize("driver", DRIVERS)
def test_class_is_the_default_only_where_it_is_set(driver: str) -> None:
    key = "storageclass.kubernetes.io/is-default-class"

    assert storage_class(DRIVERS[driver])["metadata"]["annotations"][key] == "false"
    assert storage_class(DRIVERS[driver], default=True)["metadata"]["annotations"][key] == "true"


@pytest.mark.parametrize(("driver", "expands"), [("efs", None), ("cephfs", True), ("nfs", True)])
def test_volumes_grow_where_the_driver_can_grow_them(driver: str, expands: bool | None) -> None:
    assert storage_class(DRIVERS[driver]).get("allowVolumeExpansion") is expands


@pytest.mark.parametrize("driver", DRIVERS)
def test_mount_options_and_binding_are_kept(driver: str) -> None:
    manifest = storage_class(
        DRIVERS[driver], mountOptions=["nfsvers=4.1", "hard"], volumeBindingMode="WaitForFirstConsumer", name="files"
    )

    assert manifest["mountOptions"] == ["nfsvers=4.1", "hard"]
    assert manifest["volumeBindingMode"] == "WaitForFirstConsumer"
    assert manifest["metadata"]["name"] == "files"
    assert "mountOptions" not in storage_class(DRIVERS[driver])
