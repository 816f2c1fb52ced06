"""Rules about the parameters of storage classes on AWS, as its services and drivers have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.storage.aws import Ebs, Efs, FsxLustre
from infra.settings.rules.rule import Violation, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.locate import KeyPath
    from infra.settings.models.settings import Settings

CLASSES = ("cluster", "storage", "classes")

THROUGHPUTS: dict[tuple[str, str], tuple[int, ...]] = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
"""MB per second for each TiB that FSx for Lustre offers, by deployment and disks.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
"""

IOPS_PER_THROUGHPUT = 4
"""gp3 gives at most a quarter of a MiB per second for each operation per second.

Source: https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html
"""


@rule("cluster")
def efs_owners_are_whole(settings: Settings) -> Iterator[Violation]:
    """Refuse an EFS user without a group or the reverse, and an empty range of groups, as the driver does."""
    for index, storage in enumerate(settings.cluster.storage.classes):
        path = (*CLASSES, index)
        if not isinstance(storage, Efs):
            continue
        if (storage.uid is None) != (storage.gid is None):
            given, other = ("uid", "gid") if storage.gid is None else ("gid", "uid")
            yield Violation((*path, given), f"is given without {other}", f"Add {other}, or remove {given}")
        if storage.gid_range_start > storage.gid_range_end:
            what = f"{storage.gid_range_start} is more than gidRangeEnd, {storage.gid_range_end}"
            yield Violation((*path, "gidRangeStart"), what, "Write a smaller number")


@rule("cluster")
def ebs_disks_can_be_made(settings: Settings) -> Iterator[Violation]:
    """Refuse a throughput that the operations per second do not allow, and a key for disks in the clear."""
    for index, each in enumerate(settings.cluster.storage.classes):
        if not isinstance(each, Ebs):
            continue
        if each.throughput * IOPS_PER_THROUGHPUT > each.iops:
            least = each.throughput * IOPS_PER_THROUGHPUT
            what = f"{each.throughput} MiB/s need {least} iops, and the class has {each.iops}"
            yield Violation((*CLASSES, index, "throughput"), what, f"Write less, or iops: {least}")
        if each.kms_key_id and not each.encrypted:
            what = "is given although encrypted is false"
            yield Violation((*CLASSES, index, "kmsKeyId"), what, "Remove it, or write encrypted: true")


@rule("cluster")
def lustre_can_be_made(settings: Settings) -> Iterator[Violation]:
    """Refuse parameters of FSx for Lustre that do not go together: the service would refuse each claim."""
    for index, each in enumerate(settings.cluster.storage.classes):
        if isinstance(each, FsxLustre):
            yield from _throughput(each, (*CLASSES, index))
            yield from _options(each, (*CLASSES, index))


def _throughput(each: FsxLustre, path: KeyPath) -> Iterator[Violation]:
    kind, throughput = each.deployment_type, each.per_unit_storage_throughput
    if each.storage_type == "HDD" and kind != "PERSISTENT_1":
        yield Violation((*path, "storageType"), f"{kind} has no HDD", "Write SSD, or deploymentType: PERSISTENT_1")
        return
    offered = THROUGHPUTS.get((kind, each.storage_type), ())
    if throughput is not None and not offered:
        what = f"{kind} has a throughput of its own"
        yield Violation((*path, "perUnitStorageThroughput"), what, "Remove it, or choose a persistent type")
    elif offered and throughput not in offered:
        given = "perUnitStorageThroughput is missing" if throughput is None else f"{throughput} is not offered"
        what = f"{given} for {kind} on {each.storage_type}"
        yield Violation((*path, "perUnitStorageThroughput"), what, f"Write one of {', '.join(map(str, offered))}")


def _options(each: FsxLustre, path: KeyPath) -> Iterator[Violation]:
    kind = each.deployment_type
    if each.automatic_backup_retention_days and kind == "SCRATCH_2":
        what = "scratch file systems have no backups"
        yield Violation((*path, "automaticBackupRetentionDays"), what, "Write 0, or choose a persistent type")
    if each.efa_enabled and kind != "PERSISTENT_2":
        yield Violation((*path, "efaEnabled"), f"{kind} has no EFA", "Remove it, or choose PERSISTENT_2")
    if each.kms_key_id and kind == "SCRATCH_2":
        what = "scratch file systems are encrypted with a key of the service"
        yield Violation((*path, "kmsKeyId"), what, "Remove it, or choose a persistent type")
    if each.s3_import_path and kind == "PERSISTENT_2":
        what = "PERSISTENT_2 is linked to buckets by data repository associations instead"
        yield Violation((*path, "s3ImportPath"), what, "Remove it, or choose another deploymentType")
    if each.s3_export_path:
        if each.s3_import_path is None:
            yield Violation((*path, "s3ExportPath"), "is given without s3ImportPath", "Add s3ImportPath")
        elif _bucket(each.s3_export_path) != _bucket(each.s3_import_path):
            what = "is in another bucket than s3ImportPath"
            yield Violation((*path, "s3ExportPath"), what, f"Write s3://{_bucket(each.s3_import_path)}/...")


def _bucket(address: str) -> str:
    return address.removeprefix("s3://").partition("/")[0]
