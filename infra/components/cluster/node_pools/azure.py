"""Azure virtual machines, by the Karpenter that AKS runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra.components.cluster.node_pools import machines
from infra.components.cluster.node_pools.karpenter import NodeClass

if TYPE_CHECKING:
    from infra.settings.models.autoscaler import Azure
    from infra.settings.models.gpu import Gpu
    from infra.settings.models.node_pools import NodePool

GIB = 1024**3


def node_class(pool: NodePool, provider: Azure, gpu: Gpu) -> NodeClass:
    """Return the pool's AKSNodeClass.

    Source: https://github.com/Azure/karpenter-provider-azure, `pkg/apis/crds/karpenter.azure.com_aksnodeclasses.yaml`.
    """
    spec: dict[str, Any] = {"imageFamily": provider.image_family}
    if pool.disk:
        spec["osDiskSizeGB"] = int(pool.disk.size.value) // GIB
    limits = machines.whole(pool, gpu)
    return NodeClass(api_version="karpenter.azure.com/v1beta1", kind="AKSNodeClass", spec=spec, limits=limits)
