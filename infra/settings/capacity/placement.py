"""Where a job's pods can lie: on which pools' nodes, in which zones, and how many of them at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infra.node_labels import ZONE
from infra.settings.capacity.pools import ACCELERATOR, POOL, PURPOSE, Amounts, Pool
from infra.settings.capacity.show import amount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

KNOWN = (POOL, PURPOSE, ACCELERATOR)
"""Labels that settings know of every node. Others may be the cloud's, and are taken to be what the pod asks for."""


@dataclass(frozen=True, kw_only=True)
class Pods:
    """Pods of a job that are alike.

    Args:
        name: what the group is called.
        count: how many.
        each: what one requests.
        selector: labels their nodes must carry.
        tolerations: keys of the taints they tolerate; None tolerates all.
    """

    name: str
    count: int
    each: Amounts
    selector: Mapping[str, str] = field(default_factory=dict[str, str])
    tolerations: frozenset[str] | None = frozenset()


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job as capacity sees it.

    Args:
        name: its name.
        team: the team it belongs to.
        groups: its pods, which all run at once.
        same_zone: whether they must lie in one zone.
    """

    name: str
    team: str
    groups: tuple[Pods, ...]
    same_zone: bool = False

    @property
    def requests(self) -> Amounts:
        """What all its pods request together."""
        return sum((group.each.times(group.count) for group in self.groups), Amounts())

    @property
    def pods(self) -> int:
        """How many pods it has."""
        return sum(group.count for group in self.groups)


def misfit(group: Pods, pools: Sequence[Pool]) -> str | None:
    """Return why not even one pod of the group fits a node, with each pool's reason; None when one does."""
    reasons = [(pool.name, refusal(group, pool)) for pool in pools]
    if any(reason is None for _, reason in reasons):
        return None
    each = "; ".join(f"{name} {reason}" for name, reason in reasons) or "there is no cpu or gpu pool"
    return f"a {group.name} pod fits on no node: {each}"


def refusal(group: Pods, pool: Pool) -> str | None:
    """Return why a pool's nodes take no pod of the group; None when they do."""
    if not pool.most:
        return "has no nodes"
    for key, value in group.selector.items():
        if key == ZONE and value not in pool.zones:
            return f"has no nodes in {value}"
        if key != ZONE and (key in pool.labels or key in KNOWN) and pool.labels.get(key) != value:
            own = f"has {key}={pool.labels[key]}" if key in pool.labels else f"has no {key}"
            return f"{own}, and the pod selects {value}"
    if group.tolerations is not None and (kept := sorted(pool.taints - group.tolerations)):
        return f"has the taint {', '.join(kept)}, which the pod does not tolerate"
    for resource in group.each.resources:
        asked, offered = group.each.of(resource), pool.node.of(resource)
        if asked > offered:
            return f"offers {amount(resource, offered)} a node, and the pod requests {amount(resource, asked)}"
    return None


def crowding(job: Job, pools: Sequence[Pool]) -> list[str]:
    """Return why the pods, each of which fits a node, do not fit all at once; empty when they do."""
    if not job.same_zone:
        short = _place(job, _nodes(job, pools))
        return [f"{short}: {_sizes(short.group, pools)}"] if short else []
    zones = sorted({zone for pool in pools for zone in pool.zones})
    found = [(zone, _place(job, _nodes(job, pools, zone))) for zone in zones]
    shorts = [(zone, short) for zone, short in found if short]
    if len(shorts) < len(found) or not shorts:
        return []
    zone, short = max(shorts, key=lambda each: each[1].placed)
    return [f"{short} in one zone, at best {zone}: {_sizes(short.group, pools, zone)}"]


@dataclass(frozen=True, kw_only=True)
class _Short:
    """How far placing came: so many of the job's pods, and the group that found no more room."""

    placed: int
    pods: int
    group: Pods

    def __str__(self) -> str:
        return f"only {self.placed} of its {self.pods} pods fit at once"


@dataclass(kw_only=True)
class _Node:
    """A node while pods are placed: what is left of it, and the zones it may still turn out to lie in."""

    pool: Pool
    free: Amounts
    zones: frozenset[str]


def _nodes(job: Job, pools: Sequence[Pool], zone: str | None = None) -> list[_Node]:
    """Return the nodes there can be, no more of a pool than the job has pods; only those of a zone if one is given."""
    nodes: list[_Node] = []
    for pool in pools:
        homes = [frozenset(pool.zones)] * pool.most if pool.elastic else _spread(pool)
        inside = [home for home in homes if zone is None or zone in home]
        nodes += [
            _Node(pool=pool, free=pool.node, zones=frozenset({zone}) if zone else home) for home in _few(inside, job)
        ]
    return nodes


def _spread(pool: Pool) -> list[frozenset[str]]:
    return [frozenset({zone}) for zone in pool.zones for _ in range(pool.share_of(zone))]


def _few(homes: list[frozenset[str]], job: Job) -> list[frozenset[str]]:
    """Keep as many nodes of each zone as the job has pods: it can use no more, and they cost time to look at."""
    kept: dict[frozenset[str], int] = {}
    result: list[frozenset[str]] = []
    for home in homes:
        kept[home] = kept.get(home, 0) + 1
        if kept[home] <= job.pods:
            result.append(home)
    return result


def _place(job: Job, nodes: list[_Node]) -> _Short | None:
    """Place the largest pods first, each on the fullest node that takes it; None when all have a place."""
    placed = 0
    for group in sorted(job.groups, key=_size, reverse=True):
        refused = {node.pool.name for node in nodes if refusal(group, node.pool)}
        zone = group.selector.get(ZONE)
        for _ in range(group.count):
            taking = [
                node
                for node in nodes
                if node.pool.name not in refused and node.free.holds(group.each) and (not zone or zone in node.zones)
            ]
            if not taking:
                return _Short(placed=placed, pods=job.pods, group=group)
            fullest = min(taking, key=lambda node: _order(node.free))
            fullest.free -= group.each
            fullest.zones = frozenset({zone}) if zone else fullest.zones
            placed += 1
    return None


def _size(group: Pods) -> tuple[int, Decimal, Decimal]:
    return _order(group.each)


def _order(amounts: Amounts) -> tuple[int, Decimal, Decimal]:
    return amounts.accelerated, amounts.cpu, amounts.memory


def _sizes(group: Pods, pools: Sequence[Pool], zone: str | None = None) -> str:
    """Say how many nodes there are of each pool that takes the group's pods."""
    taking = [(pool, pool.nodes_in(zone) if zone else pool.most) for pool in pools if refusal(group, pool) is None]
    return ", ".join(f"{pool.name} has at most {count} node{'s' * (count != 1)}" for pool, count in taking)
