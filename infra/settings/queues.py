"""How a team's quota is laid out over pools: what its queue guarantees it of each, and what it may borrow."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING

from infra.settings.capacity.pools import Amounts, Pool, quota_of
from infra.settings.models.scheduling import Kueue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infra.settings.models.cluster import Cluster
    from infra.settings.models.scheduling import Queues
    from infra.settings.models.teams import Team

STEP = {"cpu": Decimal("0.001"), "memory": Decimal(2**20)}
"""What shares are rounded down to: thousandths of a CPU, and mebibytes."""


def borrow_percent(queues: Queues) -> int:
    """Return how far beyond its quota a team may go, in percent of it."""
    return queues.borrow_percent if isinstance(queues, Kueue) else 0


def beyond(amounts: Amounts, percent: int) -> Amounts:
    """Return what a percentage adds to amounts; devices and bytes whole."""
    return Amounts(
        cpu=_down(amounts.cpu * percent / 100, "cpu"),
        memory=_down(amounts.memory * percent / 100, "memory"),
        devices={name: count * percent // 100 for name, count in amounts.devices.items()},
    )


def guarantees(team: Team, cluster: Cluster, pools: Sequence[Pool]) -> dict[str, Amounts]:
    """Return what each pool guarantees a team, by the pool's name; together never more than its quota.

    Devices go where the team's `shares` say, the rest by the pools' sizes. CPUs and memory follow the devices in the
    nodes' proportion; what is left of them goes to pools without devices by their sizes, or to all where none is.

    Args:
        team: the team.
        cluster: the cluster, which tells what is offered.
        pools: the pools that teams' pods run on.
    """
    quota = quota_of(team, cluster)
    given = {share.pool: share.devices for share in team.shares}
    devices = {name: _spread(name, quota.device(name), pools, given) for name in sorted(quota.devices)}
    cpu, memory = quota.cpu, quota.memory
    found: dict[str, Amounts] = {}
    for pool in pools:
        counts = {name: devices[name].get(pool.name, 0) for name in sorted(pool.node.devices)}
        nodes = max((Decimal(count) / pool.node.device(name) for name, count in counts.items()), default=Decimal(0))
        found[pool.name] = Amounts(
            cpu=_down(min(cpu, nodes * pool.node.cpu), "cpu"),
            memory=_down(min(memory, nodes * pool.node.memory), "memory"),
            devices=counts,
        )
        cpu -= found[pool.name].cpu
        memory -= found[pool.name].memory
    plain = [pool for pool in pools if not pool.node.devices] or list(pools)
    return {
        pool.name: found[pool.name] + (_part(pool, plain, cpu, memory) if pool in plain else Amounts())
        for pool in pools
    }


def limits(team: Team, cluster: Cluster, pools: Sequence[Pool], queues: Queues) -> dict[str, Amounts] | None:
    """Return the most that a team's queue gives of each pool, borrowed parts included; None where jobs do not queue."""
    if not isinstance(queues, Kueue):
        return None
    own = guarantees(team, cluster, pools)
    return {name: amounts + beyond(amounts, queues.borrow_percent) for name, amounts in own.items()}


def _part(pool: Pool, among: Sequence[Pool], cpu: Decimal, memory: Decimal) -> Amounts:
    """Return a pool's part of what is left, by its size among others, and no more than it has."""

    def share(left: Decimal, resource: str) -> Decimal:
        whole = sum((each.whole.of(resource) for each in among), Decimal(0))
        own = pool.whole.of(resource)
        return _down(min(left * own / whole, own), resource) if whole else Decimal(0)

    return Amounts(cpu=share(cpu, "cpu"), memory=share(memory, "memory"))


def _spread(name: str, count: int, pools: Sequence[Pool], given: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Return how many of a device each pool guarantees: the shares, then the rest by size, none lost or doubled."""
    chosen = {pool.name: given[pool.name][name] for pool in pools if name in given.get(pool.name, {})}
    others = [pool for pool in pools if pool.name not in chosen and pool.whole.device(name)]
    rest, whole = count - sum(chosen.values()), sum(pool.whole.device(name) for pool in others)
    if not others or rest <= 0:
        return chosen
    exact = {pool.name: Decimal(rest * pool.whole.device(name)) / whole for pool in others}
    floors = {pool: int(amount) for pool, amount in exact.items()}
    by_remainder = sorted(exact, key=lambda pool: exact[pool] - floors[pool], reverse=True)
    for pool in by_remainder[: rest - sum(floors.values())]:
        floors[pool] += 1
    return {**chosen, **floors}


def _down(amount: Decimal, resource: str) -> Decimal:
    step = STEP[resource]
    return (amount / step).to_integral_value(rounding=ROUND_DOWN) * step
