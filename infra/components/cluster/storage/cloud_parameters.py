"""Parameters of the drivers that clouds have of their own.

Sources: https://github.com/kubernetes-sigs/aws-ebs-csi-driver, `docs/parameters.md` (v1.64.0);
https://github.com/kubernetes-sigs/aws-efs-csi-driver, `docs/parameters.md` (v3.4.1);
https://github.com/kubernetes-sigs/aws-fsx-csi-driver, `pkg/driver/controller.go` (v1.9.0);
https://github.com/kubernetes-sigs/gcp-filestore-csi-driver, `README.md`;
https://github.com/kubernetes-sigs/azurefile-csi-driver, `docs/driver-parameters.md` (v1.35.7);
https://github.com/kubernetes-sigs/blob-csi-driver, `docs/driver-parameters.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.settings.models.storage.aws import Ebs, Efs, FsxLustre
    from infra.settings.models.storage.azure import AzureBlob, AzureClass, AzureFiles
    from infra.settings.models.storage.gcp import Filestore

Value = str | int | bool | None


def given(parameters: Mapping[str, Value]) -> dict[str, str]:
    """Return the parameters that have a value, as the text that a StorageClass holds."""
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in parameters.items()
        if value is not None
    }


def ebs(settings: Ebs) -> dict[str, str]:
    """Return the parameters of a gp3 disk."""
    return given(
        {
            "type": "gp3",
            "iops": settings.iops,
            "throughput": settings.throughput,
            "encrypted": settings.encrypted,
            "kmsKeyId": settings.kms_key_id,
            "csi.storage.k8s.io/fstype": settings.fs_type,
        }
    )


def efs(settings: Efs) -> dict[str, str]:
    """Return the parameters of an access point."""
    return given(
        {
            "provisioningMode": "efs-ap",
            "fileSystemId": settings.file_system_id,
            "directoryPerms": settings.directory_perms,
            "basePath": settings.base_path,
            "subPathPattern": settings.sub_path_pattern,
            "gidRangeStart": settings.gid_range_start,
            "gidRangeEnd": settings.gid_range_end,
            "uid": settings.uid,
            "gid": settings.gid,
        }
    )


def fsx_lustre(settings: FsxLustre) -> dict[str, str]:
    """Return the parameters of a Lustre file system."""
    scratch = settings.deployment_type == "SCRATCH_2"
    return given(
        {
            "subnetId": settings.subnet_id,
            "securityGroupIds": ",".join(settings.security_group_ids),
            "deploymentType": settings.deployment_type,
            "storageType": settings.storage_type,
            "driveCacheType": "NONE" if settings.storage_type == "HDD" else None,
            "perUnitStorageThroughput": settings.per_unit_storage_throughput,
            "dataCompressionType": "LZ4" if settings.data_compression else "NONE",
            "kmsKeyId": settings.kms_key_id,
            "s3ImportPath": settings.s3_import_path,
            "s3ExportPath": settings.s3_export_path,
            "automaticBackupRetentionDays": None if scratch else settings.automatic_backup_retention_days,
            "efaEnabled": True if settings.efa_enabled else None,
        }
    )


def filestore(settings: Filestore) -> dict[str, str]:
    """Return the parameters of a Filestore instance."""
    return given(
        {
            "tier": settings.tier,
            "network": settings.network,
            "connect-mode": settings.connect_mode,
            "reserved-ipv4-cidr": settings.reserved_cidr,
        }
    )


def azure_files(settings: AzureFiles) -> dict[str, str]:
    """Return the parameters of an NFS share."""
    return given({"protocol": "nfs", "skuName": settings.sku, **_account(settings)})


def azure_blob(settings: AzureBlob) -> dict[str, str]:
    """Return the parameters of a blob container."""
    return given({"protocol": settings.protocol, "skuName": settings.sku, **_account(settings)})


def _account(settings: AzureClass) -> dict[str, Value]:
    return {
        "storageAccount": settings.storage_account,
        "resourceGroup": settings.resource_group,
        "networkEndpointType": "privateEndpoint" if settings.private_endpoint else None,
    }
