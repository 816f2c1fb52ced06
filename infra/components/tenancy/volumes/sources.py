"""What a PersistentVolume of an existing file system or bucket is mounted from.

Sources: https://github.com/kubernetes-sigs/aws-efs-csi-driver, `examples/kubernetes/efs`;
https://github.com/kubernetes-sigs/aws-fsx-csi-driver, `examples/kubernetes/static_provisioning/specs/pv.yaml`;
https://github.com/ceph/ceph-csi, `docs/static-pvc.md`;
https://github.com/kubernetes-csi/csi-driver-nfs, `docs/driver-parameters.md`;
https://github.com/kubernetes-sigs/gcp-filestore-csi-driver, `docs/kubernetes/pre-provisioned-pv.md`;
https://github.com/awslabs/mountpoint-s3-csi-driver, `docs/CONFIGURATION.md`;
https://github.com/GoogleCloudPlatform/gcs-fuse-csi-driver, `pkg/csi_driver/utils.go`;
https://github.com/kubernetes-sigs/azurefile-csi-driver and blob-csi-driver, `docs/driver-parameters.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infra.settings.models.storage.azure import AzureBlob
from infra.settings.models.storage.ceph import CephFs
from infra.settings.models.storage.volumes import (
    AzureBlobSource,
    AzureFilesSource,
    CephFsSource,
    EfsSource,
    FilestoreSource,
    FsxLustreSource,
    GcsFuseSource,
    LocalSource,
    MountpointS3Source,
    NfsSource,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.settings.models.storage.storage import AnyClass
    from infra.settings.models.storage.volumes import StaticVolume


@dataclass(frozen=True, kw_only=True)
class Mounted:
    """How nodes mount a volume.

    Args:
        driver: the CSI driver.
        handle: what the driver knows the volume by; a node mounts each handle once.
        attributes: what the driver is told.
        options: options of the mount that follow from the source.
        secret: name and namespace of the Secret that nodes authenticate with; none by default.
    """

    driver: str
    handle: str
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])
    options: tuple[str, ...] = ()
    secret: tuple[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class LocalDisk:
    """A directory of one node, which needs no driver."""

    node: str
    path: str


def mounted(volume: StaticVolume, storage_class: AnyClass, *, owner: str) -> Mounted | LocalDisk:
    """Return how a volume is mounted for one team.

    Args:
        volume: the existing file system or bucket.
        storage_class: its class.
        owner: name of the PersistentVolume, which makes handles unique where one bucket has many.
    """
    match volume.source:
        case LocalSource() as local:
            return LocalDisk(node=local.node, path=local.path)
        case EfsSource() as efs:
            point = efs.access_point_id or ""
            handle = f"{efs.file_system_id}:{efs.path or ''}:{point}".rstrip(":")
            return Mounted(driver="efs.csi.aws.com", handle=handle, options=("tls",))
        case FsxLustreSource() as lustre:
            attributes = {"dnsname": lustre.dns_name, "mountname": lustre.mount_name}
            return Mounted(driver="fsx.csi.aws.com", handle=lustre.file_system_id, attributes=attributes)
        case CephFsSource() as ceph:
            return _cephfs(ceph, storage_class, owner)
        case NfsSource() as nfs:
            attributes = {"server": nfs.server, "share": nfs.share}
            handle = f"{nfs.server}#{nfs.share.strip('/')}#{owner}"
            return Mounted(driver="nfs.csi.k8s.io", handle=handle, attributes=attributes)
        case FilestoreSource() as filestore:
            attributes = {"ip": filestore.address, "volume": filestore.share}
            handle = f"modeInstance/{filestore.instance}/{filestore.share}"
            return Mounted(driver="filestore.csi.storage.gke.io", handle=handle, attributes=attributes)
        case MountpointS3Source() as bucket:
            return _mountpoint(bucket, volume, owner)
        case GcsFuseSource() as bucket:
            return _gcsfuse(bucket)
        case AzureFilesSource() as files:
            attributes = {
                "resourceGroup": files.resource_group,
                "storageAccount": files.storage_account,
                "shareName": files.share,
                "protocol": "nfs",
            }
            return Mounted(
                driver="file.csi.azure.com",
                handle=f"{files.resource_group}#{files.storage_account}#{files.share}#{owner}",
                attributes=attributes,
            )
        case AzureBlobSource() as blob:
            return _azure_blob(blob, storage_class, owner)


def _cephfs(source: CephFsSource, storage_class: AnyClass, owner: str) -> Mounted:
    if not isinstance(storage_class, CephFs):
        raise TypeError(f"{storage_class.name} is no class of CephFS")
    refs = storage_class.secret_refs
    return Mounted(
        driver=storage_class.provisioner,
        handle=owner,
        attributes={
            "clusterID": storage_class.cluster_id,
            "fsName": storage_class.fs_name,
            "staticVolume": "true",
            "rootPath": source.root_path,
        },
        secret=(refs.node, refs.namespace),
    )


def _mountpoint(source: MountpointS3Source, volume: StaticVolume, owner: str) -> Mounted:
    """Buckets are shown as they are; writing takes the right to delete, since files are replaced whole."""
    read_only = volume.access_mode == "ReadOnlyMany"
    options = [f"region {source.region}", "read-only" if read_only else "allow-delete"]
    if source.prefix:
        options.append(f"prefix {source.prefix}")
    attributes = {"bucketName": source.bucket, "authenticationSource": source.credentials}
    return Mounted(driver="s3.csi.aws.com", handle=owner, attributes=attributes, options=tuple(options))


def _gcsfuse(source: GcsFuseSource) -> Mounted:
    options = (f"only-dir={source.folder.rstrip('/')}",) if source.folder else ()
    cache = source.file_cache_capacity
    return Mounted(
        driver="gcsfuse.csi.storage.gke.io",
        handle=source.bucket,
        attributes={"fileCacheCapacity": str(cache)} if cache else {},
        options=options,
    )


def _azure_blob(source: AzureBlobSource, storage_class: AnyClass, owner: str) -> Mounted:
    if not isinstance(storage_class, AzureBlob):
        raise TypeError(f"{storage_class.name} is no class of Azure Blob")
    return Mounted(
        driver="blob.csi.azure.com",
        handle=f"{source.storage_account}_{source.container}_{owner}",
        attributes={
            "resourceGroup": source.resource_group,
            "storageAccount": source.storage_account,
            "containerName": source.container,
            "protocol": storage_class.protocol,
        },
    )
