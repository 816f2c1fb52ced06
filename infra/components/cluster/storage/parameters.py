"""What a StorageClass says to its driver: a pure function from settings to provisioner and parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infra.components.cluster.storage import cloud_parameters as cloud
from infra.settings.models.storage.anywhere import CsiS3, Local, LocalPath, Nfs
from infra.settings.models.storage.aws import Ebs, Efs, FsxLustre, MountpointS3
from infra.settings.models.storage.azure import AzureBlob, AzureFiles
from infra.settings.models.storage.ceph import CephFs, CephRbd
from infra.settings.models.storage.gcp import Filestore, GcsFuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.settings.models.storage.ceph import CephSecrets, RbdSecrets
    from infra.settings.models.storage.storage import DeclaredClass

FILE_SYSTEM = "csi.storage.k8s.io/fstype"
SECRET = "csi.storage.k8s.io/{step}-secret-{part}"  # noqa: S105 - the name of a parameter


@dataclass(frozen=True, kw_only=True)
class Driver:
    """What makes the volumes of a class.

    Args:
        name: name the driver is registered by.
        parameters: what it is told for each volume.
        snapshot_parameters: what it is told for each snapshot.
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    snapshot_parameters: Mapping[str, str] = field(default_factory=dict[str, str])


def driver_of(settings: DeclaredClass) -> Driver:
    """Return the driver of a class and what it is told.

    Sources, beside those of the clouds in `cloud_parameters`:
    https://github.com/rook/rook, `deploy/examples/csi/{rbd,cephfs}/{storageclass,snapshotclass}.yaml` (v1.20.6);
    https://github.com/kubernetes-csi/csi-driver-nfs, `docs/driver-parameters.md` (4.13.4);
    https://github.com/yandex-cloud/k8s-csi-s3, `deploy/kubernetes/examples/storageclass.yaml`;
    https://github.com/rancher/local-path-provisioner, `README.md` (v0.0.33);
    https://kubernetes.io/docs/concepts/storage/storage-classes/#local.
    """
    match settings:
        case Ebs():
            return Driver(name="ebs.csi.aws.com", parameters=cloud.ebs(settings))
        case Efs():
            return Driver(name="efs.csi.aws.com", parameters=cloud.efs(settings))
        case FsxLustre():
            return Driver(name="fsx.csi.aws.com", parameters=cloud.fsx_lustre(settings))
        case MountpointS3():
            return Driver(name="s3.csi.aws.com")
        case GcsFuse():
            return Driver(name="gcsfuse.csi.storage.gke.io")
        case Filestore():
            return Driver(name="filestore.csi.storage.gke.io", parameters=cloud.filestore(settings))
        case AzureFiles():
            return Driver(name="file.csi.azure.com", parameters=cloud.azure_files(settings))
        case AzureBlob():
            return Driver(name="blob.csi.azure.com", parameters=cloud.azure_blob(settings))
        case CephRbd():
            return _ceph_rbd(settings)
        case CephFs():
            return _cephfs(settings)
        case Nfs():
            return _nfs(settings)
        case CsiS3():
            return _csi_s3(settings)
        case Local():
            return Driver(name="kubernetes.io/no-provisioner")
        case LocalPath():
            parameters = {"nodePath": settings.node_path} if settings.node_path else {}
            return Driver(name="rancher.io/local-path", parameters=parameters)


def _ceph_rbd(settings: CephRbd) -> Driver:
    return Driver(
        name=settings.provisioner,
        parameters={
            "clusterID": settings.cluster_id,
            "pool": settings.pool,
            "imageFormat": "2",
            "imageFeatures": "layering",
            FILE_SYSTEM: settings.fs_type,
            **_ceph_secrets(settings.secret_refs),
        },
        snapshot_parameters=_ceph_snapshots(settings.cluster_id, settings.secret_refs),
    )


def _cephfs(settings: CephFs) -> Driver:
    return Driver(
        name=settings.provisioner,
        parameters={
            "clusterID": settings.cluster_id,
            "fsName": settings.fs_name,
            "pool": settings.pool,
            **_ceph_secrets(settings.secret_refs),
        },
        snapshot_parameters=_ceph_snapshots(settings.cluster_id, settings.secret_refs),
    )


def _ceph_secrets(refs: CephSecrets | RbdSecrets) -> dict[str, str]:
    return _secrets(
        {
            "provisioner": refs.provisioner,
            "controller-expand": refs.provisioner,
            "controller-publish": refs.provisioner,
            "node-stage": refs.node,
        },
        refs.namespace,
    )


def _ceph_snapshots(cluster_id: str, refs: CephSecrets | RbdSecrets) -> dict[str, str]:
    return {"clusterID": cluster_id, **_secrets({"snapshotter": refs.provisioner}, refs.namespace)}


def _secrets(steps: Mapping[str, str], namespace: str) -> dict[str, str]:
    return {
        SECRET.format(step=step, part=part): value
        for step, secret in steps.items()
        for part, value in (("name", secret), ("namespace", namespace))
    }


def _nfs(settings: Nfs) -> Driver:
    parameters = {"server": settings.server, "share": settings.share}
    sub_dir = {"subDir": settings.sub_dir} if settings.sub_dir else {}
    on_delete = {"onDelete": settings.on_delete} if settings.on_delete != "delete" else {}
    return Driver(name="nfs.csi.k8s.io", parameters=parameters | sub_dir | on_delete)


def _csi_s3(settings: CsiS3) -> Driver:
    steps = ("provisioner", "controller-publish", "node-stage", "node-publish")
    return Driver(
        name="ru.yandex.s3.csi",
        parameters={
            "mounter": "geesefs",
            "bucket": settings.bucket,
            "options": " ".join(settings.options),
            **_secrets(dict.fromkeys(steps, settings.secret_ref.name), settings.secret_ref.namespace),
        },
    )
