"""Where the sandbox's machines stand: blocks and racks, as a data centre's own labels would tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.node_labels import HOST, ZONE
from infra.settings.models.scheduling import Kueue
from infra.settings.topology import label_of

if TYPE_CHECKING:
    from infra.settings import Settings
    from infra.settings.models.node_pools import NodePool

PER_PART = 2
"""Machines of the smallest part, and parts of each larger one: with blocks and racks, two a rack and four a block."""


def labels(settings: Settings, pool: NodePool, zone: str, position: int) -> dict[str, str]:
    """Return the labels that tell where a machine stands, but for its zone; nothing where no topology asks.

    Args:
        settings: the environment.
        pool: the machine's pool.
        zone: the machine's zone.
        position: its number among the pool's machines in the zone, from 0.
    """
    queues = settings.scheduling.queues
    topologies = queues.topologies if isinstance(queues, Kueue) else ()
    found: dict[str, str] = {}
    for topology in topologies:
        if pool.name not in topology.pools:
            continue
        pools = [each for each in settings.cluster.node_pools if each.name in topology.pools]
        size = PER_PART
        for level in reversed(topology.levels):
            label = label_of(level, topology, pools)
            if label and label not in {ZONE, HOST}:
                found[label] = f"{pool.name}-{zone}-{level}-{position // size}"
                size *= PER_PART
    return found
