"""The StorageClass of volumes that many pods on many nodes mount at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra.core import names
from infra.core.component import Component
from infra.settings.models.storage import CephFs, Efs, Nfs

if TYPE_CHECKING:
    from infra.settings.models.storage import SharedStorage as SharedStorageSettings

PART_OF = "cluster"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


@dataclass(frozen=True, kw_only=True)
class SharedStorageArgs:
    """What the shared-storage class is declared from: the settings of its driver."""

    settings: SharedStorageSettings


class SharedStorage(Component):
    """Owns the StorageClass; the CSI driver and the file system behind it are the cluster's.

    Attributes:
        class_name: the class's name, for claims and quotas.
    """

    group = "cluster"

    def __init__(self, name: str, args: SharedStorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        settings = args.settings
        provisioner, parameters = _driver(settings)
        storage_class = k8s.storage.v1.StorageClass(
            settings.name,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=settings.name,
                labels=names.labels(settings.name, part_of=PART_OF),
                annotations={DEFAULT_CLASS: str(settings.default).lower()},
            ),
            provisioner=provisioner,
            parameters=parameters,
            reclaim_policy=settings.reclaim_policy,
            volume_binding_mode=settings.volume_binding_mode,
            allow_volume_expansion=None if isinstance(settings, Efs) else True,
            mount_options=list(settings.mount_options) or None,
            opts=self.child(),
        )
        self.class_name: pulumi.Output[str] = storage_class.metadata.name
        self.register_outputs({"className": self.class_name})


def _driver(settings: SharedStorageSettings) -> tuple[str, dict[str, str]]:
    """Return the provisioner and its parameters.

    Sources: https://github.com/kubernetes-sigs/aws-efs-csi-driver, `docs/parameters.md` (v3.4.1);
    https://github.com/rook/rook, `deploy/examples/csi/cephfs/storageclass.yaml` (v1.20.6);
    https://github.com/kubernetes-csi/csi-driver-nfs, `docs/driver-parameters.md`.
    """
    match settings:
        case Efs():
            owner = {"uid": settings.uid, "gid": settings.gid}
            return "efs.csi.aws.com", {
                "provisioningMode": "efs-ap",
                "fileSystemId": settings.file_system_id,
                "directoryPerms": settings.directory_perms,
                "basePath": settings.base_path,
                "gidRangeStart": str(settings.gid_range_start),
                "gidRangeEnd": str(settings.gid_range_end),
                **{key: str(value) for key, value in owner.items() if value is not None},
            }
        case CephFs():
            return settings.provisioner, {
                "clusterID": settings.cluster_id,
                "fsName": settings.fs_name,
                "pool": settings.pool,
                **_ceph_secrets(settings),
            }
        case Nfs():
            return "nfs.csi.k8s.io", {"server": settings.server, "share": settings.share}


def _ceph_secrets(settings: CephFs) -> dict[str, str]:
    refs = settings.secret_refs
    secrets = {
        "provisioner": refs.provisioner,
        "controller-expand": refs.provisioner,
        "controller-publish": refs.provisioner,
        "node-stage": refs.node,
    }
    return {
        f"csi.storage.k8s.io/{step}-secret-{part}": value
        for step, secret in secrets.items()
        for part, value in (("name", secret), ("namespace", refs.namespace))
    }
