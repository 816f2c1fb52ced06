"""EC2 machines, by Karpenter's provider for AWS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra.components.cluster.node_pools import karpenter
from infra.components.cluster.node_pools.karpenter import NodeClass
from infra.settings.models.node_pools import InOneGroup

if TYPE_CHECKING:
    from infra.settings.models.autoscaler import Aws
    from infra.settings.models.gpu import Gpu
    from infra.settings.models.node_pools import Disk, NodePool


def node_class(pool: NodePool, provider: Aws, gpu: Gpu) -> NodeClass:
    """Return the pool's EC2NodeClass.

    Source: https://github.com/aws/karpenter-provider-aws, `pkg/apis/v1/ec2nodeclass.go`, v1.14.1.
    """
    spec: dict[str, Any] = {
        "role": provider.node_role,
        "amiSelectorTerms": [{"alias": provider.images}],
        "subnetSelectorTerms": [{"tags": dict(provider.subnet_tags)}],
        "securityGroupSelectorTerms": [{"tags": dict(provider.security_group_tags)}],
        # Pods reach the instance's credentials only by asking through the host network.
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1},
        "tags": {"flotilla.dev/pool": pool.name},
    }
    if pool.disk:
        spec["blockDeviceMappings"] = [{"deviceName": _root(provider), "rootVolume": True, "ebs": _ebs(pool.disk)}]
    if isinstance(pool.placement, InOneGroup):
        spec["placementGroupSelector"] = {"name": pool.placement.name}
    limits = karpenter.bounds(pool, gpu)
    return NodeClass(api_version="karpenter.k8s.aws/v1", kind="EC2NodeClass", spec=spec, limits=limits)


def environment(provider: Aws, region: str) -> dict[str, str]:
    """Return what Karpenter has to know of the cluster and the account."""
    return {
        "AWS_REGION": region,
        "CLUSTER_NAME": provider.cluster_name,
        "INTERRUPTION_QUEUE": provider.interruption_queue,
    }


def _root(provider: Aws) -> str:
    """Return the device that pods' images and files lie on, which differs with the image's family."""
    return "/dev/xvdb" if provider.images.startswith("bottlerocket@") else "/dev/xvda"


def _ebs(disk: Disk) -> dict[str, Any]:
    chosen = {"volumeType": disk.type or "gp3", "iops": disk.iops, "throughput": disk.throughput}
    return {
        "volumeSize": str(disk.size),
        "encrypted": True,
        "deleteOnTermination": True,
        **{key: value for key, value in chosen.items() if value is not None},
    }
