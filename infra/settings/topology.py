"""Where machines stand, as labels of nodes: what each pool's topology is made of, and which pools have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.node_labels import HOST, ZONE
from infra.settings.models.autoscaler import NoAutoscaler
from infra.settings.models.node_pools import NvLink
from infra.settings.models.scheduling import Kueue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from infra.settings.models.cluster import Cluster
    from infra.settings.models.node_pools import NodePool
    from infra.settings.models.scheduling import Queues
    from infra.settings.models.topology import Topology

MACHINES = "machines"
"""What the topology of single machines is called, of pools that none is declared for."""

ORDER = ("zone", "block", "subblock", "rack", "nvlink")
"""Levels from the largest to the smallest."""

LABELS: Mapping[str, Mapping[str, str]] = {
    "own": {"block": "flotilla.dev/block", "subblock": "flotilla.dev/subblock", "rack": "flotilla.dev/rack"},
    "aws": {
        "block": "topology.k8s.aws/network-node-layer-1",
        "subblock": "topology.k8s.aws/network-node-layer-2",
        "rack": "topology.k8s.aws/network-node-layer-3",
    },
    "google": {
        "block": "cloud.google.com/gce-topology-block",
        "subblock": "cloud.google.com/gce-topology-subblock",
    },
}
"""The label of each level, by who sets it.

Sources: https://docs.aws.amazon.com/eks/latest/userguide/ml-workload-topology.html (layer 3 is the bottom one of most
types of machines), https://cloud.google.com/ai-hypercomputer/docs/workloads/schedule-gke-workloads-tas; both read in
November 2026. AKS sets none.
"""


def label_of(level: str, topology: Topology, pools: Iterable[NodePool]) -> str | None:
    """Return the label by which nodes tell a level; None where nobody sets one.

    Args:
        level: one of `ORDER`.
        topology: the topology.
        pools: its pools, whose fabric names the label of NVLink domains.
    """
    if level == "zone":
        return ZONE
    if given := getattr(topology.labels, level):
        return given
    if level == "nvlink":
        domains = {pool.fabric.domain if isinstance(pool.fabric, NvLink) else None for pool in pools}
        return domains.pop() if len(domains) == 1 else None
    return LABELS[topology.labelled_by].get(level)


def levels_of(topology: Topology, cluster: Cluster) -> tuple[str, ...]:
    """Return the labels of a topology's levels, the largest first and the node's own name last.

    With that one Kueue says of each pod which node it gets, and replaces nodes that fail.
    """
    pools = [pool for pool in cluster.node_pools if pool.name in topology.pools]
    labels = (label_of(level, topology, pools) for level in topology.levels)
    return (*(label for label in labels if label), HOST)


def levels_by_pool(cluster: Cluster, queues: Queues) -> dict[str, tuple[str, ...]]:
    """Return the levels by which Kueue places pods on each pool, by the pool's name; nothing without topologies.

    Once a queue has one pool with a topology, a job that asks for none gets none of that pool's machines, unless all
    its pools have one. So the other pools of a fixed size get one too, of machines alone.
    """
    if not isinstance(queues, Kueue) or not queues.topologies:
        return {}
    given = {name: levels_of(each, cluster) for each in queues.topologies for name in each.pools}
    return {
        pool.name: given.get(pool.name, (HOST,))
        for pool in cluster.node_pools
        if pool.purpose != "system" and (pool.name in given or not elastic(pool, cluster))
    }


def elastic(pool: NodePool, cluster: Cluster) -> bool:
    """Return whether a pool's nodes come and go, so that some of them do not exist when a job is placed."""
    return not isinstance(cluster.autoscaler, NoAutoscaler) and pool.nodes.min < pool.nodes.max
