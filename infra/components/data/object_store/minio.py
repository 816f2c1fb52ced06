"""MinIO on this platform: one pool whose objects are spread over all its disks, any half of which may be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra.components.data.object_store.access import MINIO
from infra.node_labels import HOST, ZONE

if TYPE_CHECKING:
    from infra.core.parts import Image
    from infra.settings.models.data.object_store import MinioStore

API = "minio.min.io/v2"
USER = 1000

Spec = dict[str, Any]


def spec(store: MinioStore, *, storage_class: str, image: Image) -> Spec:
    """Return the `Tenant`.

    Args:
        store: sizes and numbers.
        storage_class: class of every disk.
        image: what its servers run.

    Source: https://github.com/minio/operator, `examples/kustomization/base/tenant.yaml` (v7.1.1).
    """
    labels = {"v1.min.io/tenant": MINIO}
    apart = {"labelSelector": {"matchLabels": labels}, "topologyKey": HOST}
    return {
        "image": image.reference,
        "configuration": {"name": store.configuration_secret},
        "requestAutoCert": False,
        "mountPath": "/export",
        "podManagementPolicy": "Parallel",
        "pools": [
            {
                "name": "pool-0",
                "servers": store.servers,
                "volumesPerServer": store.volumes_per_server,
                "volumeClaimTemplate": {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "storageClassName": storage_class,
                        "resources": {"requests": {"storage": str(store.volume.size)}},
                    }
                },
                "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}},
                "topologySpreadConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": ZONE,
                        "whenUnsatisfiable": "ScheduleAnyway",
                        "labelSelector": {"matchLabels": labels},
                    }
                ],
                "securityContext": {
                    "runAsUser": USER,
                    "runAsGroup": USER,
                    "fsGroup": USER,
                    "fsGroupChangePolicy": "OnRootMismatch",
                    "runAsNonRoot": True,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containerSecurityContext": {
                    "runAsUser": USER,
                    "runAsNonRoot": True,
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
            }
        ],
    }
