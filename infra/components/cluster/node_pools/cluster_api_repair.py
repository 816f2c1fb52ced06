"""Machines of Cluster API that are replaced when their node or its GPUs stay unhealthy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from infra.core import names
from infra.settings.models.gpu_health import NodeProblemDetector
from infra.settings.spans import seconds

if TYPE_CHECKING:
    from infra.settings.models.autoscaler import ClusterApi
    from infra.settings.models.gpu import Gpu
    from infra.settings.models.node_pools import NodePool

CHECK = ("cluster.x-k8s.io/v1beta2", "MachineHealthCheck")
UNHEALTHY_AT_ONCE = 0.2
"""Share of a pool beyond which the fault is rather in the network or the image, and new machines would not help.

Karpenter knows no other.
"""


def health_check(pool: NodePool, settings: ClusterApi, after: str, gpu: Gpu) -> dict[str, Any]:
    """Return the spec of a pool's MachineHealthCheck.

    Args:
        pool: the pool.
        settings: the cluster's name.
        after: how long a node stays unhealthy before its machine is replaced.
        gpu: who tells that a GPU is broken.

    Source: https://github.com/kubernetes-sigs/cluster-api, `core/config/crd/bases`, v1.14.2.
    """
    conditions = [("Ready", "False"), ("Ready", "Unknown")]
    health = gpu.nvidia.health
    if isinstance(health, NodeProblemDetector) and pool.machine.gpus and pool.machine.vendor == "nvidia":
        conditions.append((health.condition, "True"))
    return {
        "clusterName": settings.cluster_name,
        "selector": {"matchLabels": {names.NODE_POOL: pool.name}},
        "checks": {
            # Cluster Autoscaler gives up machines that do not come. Ones with much memory take long to boot.
            "nodeStartupTimeoutSeconds": 0,
            "unhealthyNodeConditions": [
                {"type": kind, "status": status, "timeoutSeconds": seconds(after)} for kind, status in conditions
            ],
        },
        "remediation": {
            "triggerIf": {"unhealthyLessThanOrEqualTo": max(1, math.ceil(pool.nodes.max * UNHEALTHY_AT_ONCE))}
        },
    }
