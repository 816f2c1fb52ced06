"""Rules about storage classes, drivers and volumes refuse what they should, and let what is valid pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.unit.settings.folder import load_overlay, message

if TYPE_CHECKING:
    from pathlib import Path


def classes(*more: str, drivers: str = "", rest: str = "") -> str:
    """Return storage whose first class is a disk, the second `shared`."""
    lines = "".join(f"\n      - {each}" for each in (GP3, *more))
    given = f"\n    drivers: {drivers}" if drivers else ""
    return f"cluster:\n  storage:\n    classes:{lines}{given}{rest}"


def volumes(*lines: str) -> str:
    """Return the team `vision` with these volumes."""
    return TEAM + "\n    volumes:" + "".join(f"\n      - {each}" for each in lines)


GP3 = "{ name: gp3, driver: ebs }"
EFS = "{ name: shared, driver: efs, fileSystemId: fs-0123456789abcdef0 }"
LUSTRE = "{ name: lustre, driver: fsx-lustre, subnetId: subnet-0123456789abcdef0, " + (
    "securityGroupIds: [sg-0123456789abcdef0], deploymentType: SCRATCH_2 }"
)
NFS = "{ name: nfs, driver: nfs, server: nfs.example.com, share: /exports }"
CEPHFS = "{ name: ceph, driver: cephfs, clusterId: rook-ceph, fsName: files, pool: files-data }"
DATASETS = (
    "\n    volumes:\n      - { name: datasets, storageClass: nfs, size: 1Ti, teams: [vision],"
    " source: { driver: nfs, server: nfs.example.com, share: /data } }"
)
ROOK = "\n    ceph: { kind: rook, nodePool: system }"
CHECKPOINTS = "{ name: checkpoints, purpose: checkpoints, size: 100Gi }"


def lustre(parameters: str, deployment: str = "SCRATCH_2") -> str:
    """Return storage with a Lustre class of these parameters, the third of all."""
    made = LUSTRE.replace("SCRATCH_2 }", f"{deployment}, {parameters} }}")
    return classes(EFS, made, drivers="{ fsxLustre: { source: present } }")


def existing(volumes: str) -> str:
    """Return storage with an NFS class and existing file systems."""
    return classes(EFS, NFS, drivers="{ nfs: { source: present } }", rest=volumes)


TEAM = """
teams:
  - name: vision
    owner: vera@example.com
    quota: { cpu: 64, memory: 512Gi, gpus: 8, pods: 100, sharedStorage: 1Ti }
    limits:
      defaultRequest: { cpu: 100m, memory: 256Mi }
      default: { memory: 4Gi }
      max: { cpu: 48, memory: 512Gi }"""

VIOLATIONS = {
    "efs owners are whole": (
        classes(EFS.replace(" }", ", uid: 1000 }")),
        "cluster.storage.classes[1].uid: is given without gid. Add gid, or remove uid.",
    ),
    "classes are named once": (
        classes(EFS, GP3),
        "cluster.storage.classes[2].name: another class is called gp3. Write another name.",
    ),
    "default classes serve their purpose": (
        "cluster: { storage: { defaults: { shared: gp3 } } }",
        "cluster.storage.defaults.shared: gp3 has driver ebs, whose volumes cannot be ReadWriteMany."
        " Name another class.",
    ),
    "classes have their driver": (
        classes(EFS, NFS),
        "cluster.storage.classes[2].driver: nobody brings the driver of nfs. Add cluster.storage.drivers.nfs with"
        " source: install, or present if the platform has it.",
    ),
    "roles are for drivers we install": (
        'cluster: { storage: { drivers: { ebs: { role: "arn:aws:iam::111122223333:role/ebs" } } } }',
        "cluster.storage.drivers.ebs.role: has no effect on a driver that is present."
        " Remove it, or write source: install.",
    ),
    "ceph is used": (
        classes(EFS, drivers="{ rook: { source: present } }", rest=ROOK),
        "cluster.storage.ceph: no class is of driver ceph-rbd or cephfs. Add one, or remove ceph.",
    ),
    "ceph file systems name their pool": (
        classes(EFS, CEPHFS.replace("files-data", "data"), drivers="{ rook: { source: present } }", rest=ROOK),
        "cluster.storage.classes[2].pool: Rook calls the pools of files files-<pool>."
        " Write one such as files-replicated.",
    ),
    "ebs disks can be made": (
        classes(EFS, "{ name: fast, driver: ebs, throughput: 1000 }"),
        "cluster.storage.classes[2].throughput: 1000 MiB/s need 4000 iops, and the class has 3000."
        " Write less, or iops: 4000.",
    ),
    "lustre can be made": (
        classes(EFS, LUSTRE.replace("SCRATCH_2", "PERSISTENT_2"), drivers="{ fsxLustre: { source: present } }"),
        "cluster.storage.classes[2]: perUnitStorageThroughput is missing for PERSISTENT_2 on SSD."
        " Write one of 125, 250, 500, 1000.",
    ),
    "volumes are named once": (
        volumes(CHECKPOINTS, CHECKPOINTS),
        "teams[0].volumes[1].name: the team has another volume called checkpoints. Write another name.",
    ),
    "volumes can be made": (
        volumes("{ name: data, purpose: data, size: 1Gi, storageClass: gp3 }"),
        "teams[0].volumes[0]: volumes of gp3 (driver ebs) cannot be ReadWriteMany."
        " Write one of ReadWriteOnce, ReadWriteOncePod, or use another class.",
    ),
    "checkpoints are shared": (
        volumes(CHECKPOINTS.replace("100Gi", "100Gi, accessMode: ReadWriteOnce")),
        "teams[0].volumes[0].accessMode: ReadWriteOnce does not let the pods of a job on several nodes write"
        " checkpoints. Write ReadWriteMany.",
    ),
    "volumes fit the quota": (
        volumes(CHECKPOINTS.replace("100Gi", "2Ti")),
        "teams[0].quota.sharedStorage: 1Ti is less than the team's volumes of shared hold together, 2Ti."
        " Write 2Ti or more.",
    ),
    "lustre volumes have a size it comes in": (
        classes(EFS, LUSTRE, drivers="{ fsxLustre: { source: present } }")
        + "\n"
        + volumes("{ name: scratch, purpose: scratch, size: 2Ti, storageClass: lustre }"),
        "teams[0].volumes[0].size: FSx for Lustre has no 2Ti. Write 1200Gi, 2400Gi or a multiple of 2400Gi.",
    ),
    "existing file systems reach teams": (
        classes(EFS, NFS, drivers="{ nfs: { source: present } }", rest=DATASETS.replace("vision", "visoin")),
        "cluster.storage.volumes[0].teams[0]: visoin is not a team. Did you mean vision? Write one of vision.",
    ),
}


@pytest.mark.parametrize("rule", VIOLATIONS)
def test_rule_alone_finds_its_violation(rule: str, tmp_path: Path) -> None:
    overlay, expected = VIOLATIONS[rule]
    lines = message(tmp_path, overlay).splitlines()

    assert [place[1] for line in lines if (place := re.fullmatch(r"\s*\S+:\d+: (.*)", line))] == [expected]


@pytest.mark.parametrize(
    ("overlay", "expected"),
    [
        (classes(EFS.replace(" }", ", gid: 1000 }")), "cluster.storage.classes[1].gid: is given without uid"),
        (
            classes(EFS.replace(" }", ", gidRangeStart: 10, gidRangeEnd: 9 }")),
            "cluster.storage.classes[1].gidRangeStart: 10 is more than gidRangeEnd, 9",
        ),
        (
            "cluster: { storage: { defaults: { block: gp } } }",
            "cluster.storage.defaults.block: gp is not a class of cluster.storage.classes. Did you mean gp3?",
        ),
        (
            classes(EFS, "{ name: disks, driver: local }", rest="\n    defaults: { scratch: disks }"),
            "cluster.storage.defaults.scratch: disks has driver local, which makes no volumes for claims",
        ),
        (
            classes(EFS, CEPHFS, rest=ROOK),
            "cluster.storage.ceph: nobody runs Rook, which makes or connects the Ceph cluster",
        ),
        (
            classes(EFS, CEPHFS, drivers="{ rook: { source: present } }", rest=ROOK.replace("system", "sistem")),
            "cluster.storage.ceph.nodePool: sistem is not a pool of cluster.nodePools. Did you mean system?",
        ),
        (
            classes(EFS, "{ name: open, driver: ebs, encrypted: false, kmsKeyId: 'arn:aws:kms:r:111122223333:key/k' }"),
            "cluster.storage.classes[2].kmsKeyId: is given although encrypted is false",
        ),
        (
            lustre("storageType: HDD"),
            "cluster.storage.classes[2].storageType: SCRATCH_2 has no HDD",
        ),
        (
            lustre("perUnitStorageThroughput: 200"),
            "cluster.storage.classes[2].perUnitStorageThroughput: SCRATCH_2 has a throughput of its own",
        ),
        (
            lustre("perUnitStorageThroughput: 125", "PERSISTENT_1"),
            "cluster.storage.classes[2].perUnitStorageThroughput: 125 is not offered for PERSISTENT_1 on SSD",
        ),
        (
            lustre("automaticBackupRetentionDays: 7"),
            "cluster.storage.classes[2].automaticBackupRetentionDays: scratch file systems have no backups",
        ),
        (lustre("efaEnabled: true"), "cluster.storage.classes[2].efaEnabled: SCRATCH_2 has no EFA"),
        (
            lustre("kmsKeyId: 'arn:aws:kms:r:111122223333:key/k'"),
            "cluster.storage.classes[2].kmsKeyId: scratch file systems are encrypted with a key of the service",
        ),
        (
            lustre("perUnitStorageThroughput: 125, s3ImportPath: 's3://data'", "PERSISTENT_2"),
            "cluster.storage.classes[2].s3ImportPath: PERSISTENT_2 is linked to buckets",
        ),
        (
            lustre("s3ExportPath: 's3://data'"),
            "cluster.storage.classes[2].s3ExportPath: is given without s3ImportPath",
        ),
        (
            lustre("s3ImportPath: 's3://data', s3ExportPath: 's3://other/out'"),
            "cluster.storage.classes[2].s3ExportPath: is in another bucket than s3ImportPath",
        ),
        (
            volumes(CHECKPOINTS.replace("100Gi", "1Gi, storageClass: sharde")),
            "teams[0].volumes[0].storageClass: sharde is not a class of cluster.storage.classes. Did you mean shared?",
        ),
        (
            classes(EFS, "{ name: disks, driver: local }")
            + "\n"
            + volumes("{ name: s, purpose: scratch, size: 1Gi, storageClass: disks, accessMode: ReadWriteOnce }"),
            "teams[0].volumes[0].storageClass: disks has driver local, which makes no volumes for claims",
        ),
        (
            existing(DATASETS.replace("storageClass: nfs", "storageClass: shared")),
            "cluster.storage.volumes[0].storageClass: shared has driver efs, which does not mount nfs",
        ),
        (
            existing(DATASETS.replace("storageClass: nfs", "storageClass: nsf")),
            "cluster.storage.volumes[0].storageClass: nsf is not a class of cluster.storage.classes",
        ),
        (
            existing(DATASETS.replace("[vision]", "[vision, vision]")),
            "cluster.storage.volumes[0].teams[1]: vision is listed twice",
        ),
        (
            existing(DATASETS) + "\n" + volumes(CHECKPOINTS.replace("checkpoints,", "datasets,", 1)),
            "teams[0].volumes[0].name: the team has another volume called datasets",
        ),
    ],
)
def test_rule_refuses_further_violations(overlay: str, expected: str, tmp_path: Path) -> None:
    assert expected in message(tmp_path, overlay)


@pytest.mark.parametrize(
    "overlay",
    [
        classes(EFS.replace(" }", ", uid: 0, gid: 0 }")),
        volumes(CHECKPOINTS, "{ name: s, purpose: scratch, size: 1Gi, accessMode: ReadWriteOnce }"),
        existing(DATASETS),
        lustre("perUnitStorageThroughput: 40, storageType: HDD", "PERSISTENT_1"),
        classes(EFS, CEPHFS, drivers="{ rook: { source: install } }", rest=ROOK),
    ],
)
def test_rules_accept_what_is_valid(overlay: str, tmp_path: Path) -> None:
    assert load_overlay(tmp_path, overlay).environment == "dev"
