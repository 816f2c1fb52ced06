"""What a storage class is held against: the documentation of its driver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ONE_NODE = {"ReadWriteOnce", "ReadWriteOncePod"}
SHARED = {"ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod"}
OBJECTS = {"ReadWriteMany", "ReadOnlyMany"}

SECRET = "csi.storage.k8s.io/{}-secret-{}"
KEY = "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"


def secrets(namespace: str, **names: str) -> dict[str, str]:
    """Return the parameters that name the Secret of each step."""
    return {
        SECRET.format(step.replace("_", "-"), part): value
        for step, name in names.items()
        for part, value in (("name", name), ("namespace", namespace))
    }


def ceph_secrets(kind: str) -> dict[str, str]:
    """Return Rook's Secrets; `controller-publish` is in both classes since v1.20."""
    provisioner, node = f"rook-csi-{kind}-provisioner", f"rook-csi-{kind}-node"
    return secrets(
        "rook-ceph",
        provisioner=provisioner,
        controller_expand=provisioner,
        controller_publish=provisioner,
        node_stage=node,
    )


@dataclass(frozen=True, kw_only=True)
class Case:
    """A class of one driver.

    Args:
        source: where the driver documents what follows.
        settings: the class as values give it.
        provisioner: name the driver is registered by.
        parameters: what the StorageClass must say.
        documented: every parameter the driver knows.
        modes: access modes its volumes can have.
        binding: when volumes are made.
        reclaim: what becomes of them by default.
        expands: whether they grow.
        snapshots: parameters of the snapshot class; None where the driver takes none.
        dynamic: whether volumes are made for claims.
    """

    source: str
    settings: dict[str, Any]
    provisioner: str
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    documented: set[str] = field(default_factory=set[str])
    modes: set[str]
    binding: str = "Immediate"
    reclaim: str = "Retain"
    expands: bool = True
    snapshots: dict[str, str] | None = None
    dynamic: bool = True


FSX = {
    "subnetId",
    "securityGroupIds",
    "deploymentType",
    "storageType",
    "driveCacheType",
    "kmsKeyId",
    "perUnitStorageThroughput",
    "automaticBackupRetentionDays",
    "dailyAutomaticBackupStartTime",
    "copyTagsToBackups",
    "dataCompressionType",
    "weeklyMaintenanceStartTime",
    "fileSystemTypeVersion",
    "extraTags",
    "autoImportPolicy",
    "s3ImportPath",
    "s3ExportPath",
    "efaEnabled",
    "metadataConfigurationMode",
    "metadataIops",
}

EFS = {
    "provisioningMode",
    "fileSystemId",
    "fileSystemIdConfigRef",
    "fileSystemIdSecretRef",
    "directoryPerms",
    "uid",
    "gid",
    "gidRangeStart",
    "gidRangeEnd",
    "basePath",
    "subPathPattern",
    "ensureUniqueDirectory",
    "az",
    "enforceZoneAffinity",
    "reuseAccessPoint",
    "enableTagging",
}

AZURE_FILES = {
    "skuName",
    "storageAccount",
    "protocol",
    "enableLargeFileShares",
    "networkEndpointType",
    "location",
    "resourceGroup",
    "subscriptionID",
    "shareName",
    "shareNamePrefix",
    "folderName",
    "server",
}

EBS = {
    "csi.storage.k8s.io/fstype",
    "type",
    "iopsPerGB",
    "allowAutoIOPSPerGBIncrease",
    "iops",
    "throughput",
    "encrypted",
    "blockExpress",
    "kmsKeyId",
    "blockSize",
}
