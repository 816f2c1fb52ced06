"""Machines that Cluster API makes, in sets whose size Cluster Autoscaler chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra.components.cluster.node_pools import machines
from infra.core import names
from infra.node_labels import ZONE
from infra.settings.devices import devices_of
from infra.settings.spans import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from infra.settings.models.autoscaler import ClusterApi, Template
    from infra.settings.models.gpu import Gpu
    from infra.settings.models.node_pools import NodePool

API_VERSION = "cluster.x-k8s.io/v1beta2"
CLUSTER_NAME = "cluster.x-k8s.io/cluster-name"

_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group"
_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io"
_OPTIONS = "cluster.x-k8s.io/autoscaling-options"


class MachineSet:
    """The machines of one pool in one zone.

    Attributes:
        name: name of the object.
        annotations: what Cluster Autoscaler reads: limits, and what a machine offers while there is none to look at.
        spec: its fields, but for `replicas`, which belongs to the autoscaler.
    """

    def __init__(self, pool: NodePool, settings: ClusterApi, gpu: Gpu, zone: str, least: int, most: int) -> None:
        self.name = names.bounded(f"{pool.name}-{zone}")
        self.annotations = _annotations(pool, gpu, zone, least, most)
        labels = machines.labels(pool)
        template = {"metadata": {"labels": labels}, "spec": _machine(pool, settings, zone)}
        if settings.machines == "MachinePool":
            self.spec: Mapping[str, Any] = {
                "clusterName": settings.cluster_name,
                "failureDomains": [zone],
                "template": template,
            }
        else:
            chosen = {CLUSTER_NAME: settings.cluster_name, names.NODE_POOL: pool.name, ZONE: zone}
            template["metadata"] = {"labels": {**labels, **chosen}}
            self.spec = {
                "clusterName": settings.cluster_name,
                "selector": {"matchLabels": chosen},
                "rollout": {
                    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
                },
                "template": template,
            }


def machine_sets(pool: NodePool, settings: ClusterApi, zones: Sequence[str], gpu: Gpu) -> Iterator[MachineSet]:
    """Yield the pool's sets, one a zone. Together they have exactly the pool's least and largest number of machines.

    Sources: https://github.com/kubernetes-sigs/cluster-api, `core/config/crd/bases`, v1.14.2;
    https://github.com/kubernetes/autoscaler, `cluster-autoscaler/cloudprovider/clusterapi/README.md`.
    """
    least, most = _spread(pool.nodes.min, len(zones)), _spread(pool.nodes.max, len(zones))
    for zone, fewest, largest in zip(zones, least, most, strict=True):
        yield MachineSet(pool, settings, gpu, zone, fewest, largest)


def _spread(total: int, zones: int) -> list[int]:
    share, rest = divmod(total, zones)
    return [share + (1 if index < rest else 0) for index in range(zones)]


def _machine(pool: NodePool, settings: ClusterApi, zone: str) -> dict[str, Any]:
    taints = [
        {**{key: value for key, value in taint.items() if value}, "propagation": "Always"}
        for taint in machines.taints(pool)
    ]
    zonal = {} if settings.machines == "MachinePool" else {"failureDomain": zone}
    grace = pool.disruption.grace_period
    return {
        "clusterName": settings.cluster_name,
        "version": settings.version,
        "bootstrap": {"configRef": _reference(settings.bootstrap, pool)},
        "infrastructureRef": _reference(settings.infrastructure, pool),
        **zonal,
        **({"deletion": {"nodeDrainTimeoutSeconds": seconds(grace)}} if grace else {}),
        **({"taints": taints} if taints else {}),
    }


def _reference(template: Template, pool: NodePool) -> dict[str, str]:
    return {"apiGroup": template.group, "kind": template.kind, "name": pool.name}


def _annotations(pool: NodePool, gpu: Gpu, zone: str, least: int, most: int) -> dict[str, str]:
    labels = {**machines.labels(pool), ZONE: zone, machines.INSTANCE_TYPE: pool.instance_type}
    found = {
        f"{_SIZE}-min-size": str(least),
        f"{_SIZE}-max-size": str(most),
        f"{_CAPACITY}/cpu": str(pool.machine.cpu),
        f"{_CAPACITY}/memory": str(pool.machine.memory),
        f"{_CAPACITY}/labels": ",".join(f"{key}={value}" for key, value in sorted(labels.items())),
        f"{_OPTIONS}-scaledownunneededtime": pool.disruption.after,
        f"{_OPTIONS}-scaledown{'gpu' if pool.machine.gpus else ''}utilizationthreshold": _threshold(pool),
    }
    for name, count in devices_of(pool, gpu).items():  # there is room for one kind, and settings refuse more
        found |= {f"{_CAPACITY}/gpu-type": name, f"{_CAPACITY}/gpu-count": str(count)}
    if pool.taints:
        found[f"{_CAPACITY}/taints"] = ",".join(f"{each.key}={each.value}:{each.effect}" for each in pool.taints)
    return found


def _threshold(pool: NodePool) -> str:
    """Return the use below which a node goes: hardly any, or half, where its pods may move."""
    chosen = pool.disruption.consolidate or ("empty" if pool.purpose == "gpu" else "underutilized")
    return "0.01" if chosen == "empty" else "0.5"
