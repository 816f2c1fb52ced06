"""What a node pool offers to teams' pods: each node, all nodes at the most, and those of one zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from infra.settings.devices import devices_of, granted
from infra.settings.models.autoscaler import NoAutoscaler

if TYPE_CHECKING:
    from collections.abc import Iterable

    from infra.settings.models.capacity import NodeReserve
    from infra.settings.models.cluster import Cluster
    from infra.settings.models.node_pools import NodePool
    from infra.settings.models.teams import Team

POOL = "flotilla.dev/pool"
PURPOSE = "flotilla.dev/purpose"
ACCELERATOR = "nvidia.com/gpu.product"
"""Labels of nodes that jobs select by."""

BLOCKING = ("NoSchedule", "NoExecute")
"""Effects of taints that keep a pod away which does not tolerate them."""


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """CPUs, bytes of memory, and accelerators by the resource that pods request them as."""

    cpu: Decimal = Decimal(0)
    memory: Decimal = Decimal(0)
    devices: Mapping[str, int] = field(default_factory=dict[str, int])

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(
            cpu=self.cpu + other.cpu,
            memory=self.memory + other.memory,
            devices={name: self.device(name) + other.device(name) for name in {**self.devices, **other.devices}},
        )

    def __sub__(self, other: Amounts) -> Amounts:
        return self + other.times(-1)

    def holds(self, other: Amounts) -> bool:
        """Tell whether the other fits into it."""
        return all(self.of(resource) >= other.of(resource) for resource in other.resources)

    def times(self, count: int) -> Amounts:
        """Return so many of it."""
        devices = {name: number * count for name, number in self.devices.items()}
        return Amounts(cpu=self.cpu * count, memory=self.memory * count, devices=devices)

    def device(self, name: str) -> int:
        """Return how many there are of a resource."""
        return self.devices.get(name, 0)

    def of(self, resource: str) -> Decimal:
        """Return the amount of `cpu`, `memory` or a device."""
        match resource:
            case "cpu":
                return self.cpu
            case "memory":
                return self.memory
            case _:
                return Decimal(self.device(resource))

    @property
    def resources(self) -> tuple[str, ...]:
        """Names of everything it counts, in the order reports show it."""
        return "cpu", "memory", *sorted(self.devices)

    @property
    def accelerated(self) -> int:
        """How many devices there are, of whatever kind."""
        return sum(self.devices.values())


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A node pool as capacity sees it.

    Args:
        name: its name.
        purpose: `system`, `cpu` or `gpu`.
        instance_type: type of its machines.
        accelerator: product of its accelerators; None where it has none.
        zones: the zones it spans.
        least: nodes at rest.
        most: nodes under the highest load.
        elastic: whether an autoscaler makes lost nodes anew in another zone.
        spot: whether its machines are bought on the spot market.
        falls_back: whether it buys on demand where the spot market has none.
        node: what one node offers to pods, without what it keeps for itself.
        labels: labels its nodes carry that a pod may select by.
        taints: keys of the taints that keep pods away which do not tolerate them.
    """

    name: str
    purpose: str
    instance_type: str
    accelerator: str | None
    zones: tuple[str, ...]
    least: int
    most: int
    elastic: bool
    spot: bool
    falls_back: bool
    node: Amounts
    labels: Mapping[str, str]
    taints: frozenset[str]

    @property
    def whole(self) -> Amounts:
        """What all its nodes offer together under the highest load."""
        return self.node.times(self.most)

    def nodes_in(self, zone: str) -> int:
        """Return how many of its nodes one zone can hold: all of an elastic pool's, an even share of a fixed one's."""
        if zone not in self.zones:
            return 0
        return self.most if self.elastic else self.share_of(zone)

    def share_of(self, zone: str) -> int:
        """Return how many nodes lie in a zone when the pool is full and spread evenly."""
        if zone not in self.zones:
            return 0
        each, rest = divmod(self.most, len(self.zones))
        return each + (self.zones.index(zone) < rest)


def pools_of(cluster: Cluster, reserve: NodeReserve) -> tuple[Pool, ...]:
    """Return every pool of a cluster, in the settings' order."""
    elastic = not isinstance(cluster.autoscaler, NoAutoscaler)
    return tuple(_pool(pool, cluster, reserve, elastic=elastic) for pool in cluster.node_pools)


def for_teams(pools: Iterable[Pool]) -> tuple[Pool, ...]:
    """Return the pools that teams' pods run on."""
    return tuple(pool for pool in pools if pool.purpose != "system")


def together(pools: Iterable[Pool]) -> Amounts:
    """Return what all these pools offer at their largest."""
    return sum((pool.whole for pool in pools), Amounts())


def quota_of(team: Team, cluster: Cluster) -> Amounts:
    """Return what a team's pods may request together, every device that some pool offers among it."""
    return Amounts(cpu=team.quota.cpu.value, memory=team.quota.memory.value, devices=granted(team.quota, cluster))


def _pool(pool: NodePool, cluster: Cluster, reserve: NodeReserve, *, elastic: bool) -> Pool:
    machine = pool.machine
    return Pool(
        name=pool.name,
        purpose=pool.purpose,
        instance_type=pool.instance_type,
        accelerator=machine.accelerator,
        zones=pool.zones or cluster.zones,
        least=pool.nodes.min,
        most=pool.nodes.max,
        elastic=elastic and pool.purpose != "system",
        spot=pool.capacity_type != "on-demand",
        falls_back=pool.capacity_type == "spot-or-on-demand",
        node=Amounts(
            cpu=max(machine.cpu.value - reserve.cpu.value, Decimal(0)),
            memory=max(machine.memory.value - reserve.memory.value, Decimal(0)),
            devices=devices_of(pool, cluster.gpu),
        ),
        labels={
            POOL: pool.name,
            PURPOSE: pool.purpose,
            "node.kubernetes.io/instance-type": pool.instance_type,
            "topology.kubernetes.io/region": cluster.region,
            **({ACCELERATOR: machine.accelerator} if machine.accelerator else {}),
            **pool.labels,
        },
        taints=frozenset(taint.key for taint in pool.taints if taint.effect in BLOCKING),
    )
