"""What pools and teams cost a month: at rest, and when everything is used."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import TYPE_CHECKING

from infra.settings.capacity.pools import Pool, for_teams

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infra.settings.capacity.pools import Amounts
    from infra.settings.models.capacity import Prices

HOURS = Decimal(730)
"""Hours of a month: a twelfth of 365 days."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Money a month, in the price list's currency.

    Args:
        floor: what is spent while nobody uses anything.
        ceiling: what is spent when all that is allowed is used, all month.
    """

    floor: Decimal
    ceiling: Decimal

    def __add__(self, other: Cost) -> Cost:
        return Cost(floor=self.floor + other.floor, ceiling=self.ceiling + other.ceiling)


NOTHING = Cost(floor=Decimal(0), ceiling=Decimal(0))


@dataclass(frozen=True, kw_only=True)
class Hourly:
    """What an hour of one node of a pool costs: at the least and at the dearest way its pool may buy it."""

    least: Decimal
    dearest: Decimal


def hourly(pools: Sequence[Pool], prices: Prices | None) -> dict[str, Hourly]:
    """Return the price of each pool's node by the pool's name; pools whose machine has no price are left out."""
    listed = {machine.instance_type: machine for machine in prices.machines} if prices else {}
    found: dict[str, Hourly] = {}
    for pool in pools:
        if machine := listed.get(pool.instance_type):
            spot = machine.on_demand if machine.spot is None else machine.spot
            found[pool.name] = Hourly(
                least=spot if pool.spot else machine.on_demand,
                dearest=spot if pool.spot and not pool.falls_back else machine.on_demand,
            )
    return found


def pool_cost(pool: Pool, rates: Mapping[str, Hourly]) -> Cost | None:
    """Return what a pool costs; None where its machine has no price."""
    rate = rates.get(pool.name)
    if rate is None:
        return None
    return Cost(floor=rate.least * pool.least * HOURS, ceiling=rate.dearest * pool.most * HOURS)


def team_costs(
    quotas: Mapping[str, Amounts], pools: Sequence[Pool], rates: Mapping[str, Hourly]
) -> dict[str, Cost | None]:
    """Return what each team costs, by its name; None where a pool it may use has no price.

    The floor is the team's share, by quota, of the nodes that cpu and gpu pools keep at rest, so that floors add up to
    those pools'. The ceiling is its whole quota, packed tightly onto the dearest nodes that it may fill: teams that are
    promised more than there is add up to more than the pools can cost.
    """
    shared = for_teams(pools)
    if any(pool.name not in rates for pool in shared):
        return dict.fromkeys(quotas)
    return {name: _team_cost(quota, quotas, shared, rates) for name, quota in quotas.items()}


def _team_cost(
    quota: Amounts, everyone: Mapping[str, Amounts], pools: Sequence[Pool], rates: Mapping[str, Hourly]
) -> Cost:
    floor = sum((_share(quota, everyone, pool) * _rest(pool, rates) for pool in pools), Decimal(0))
    return Cost(floor=floor, ceiling=max(floor, _filled(quota, pools, rates)))


def _rest(pool: Pool, rates: Mapping[str, Hourly]) -> Decimal:
    return rates[pool.name].least * pool.least * HOURS


def _share(quota: Amounts, everyone: Mapping[str, Amounts], pool: Pool) -> Decimal:
    """Return a team's part of a pool: of the first of its devices, or of its CPUs where it has none."""
    resource = min(pool.node.devices, default="cpu")
    whole = sum((each.of(resource) for each in everyone.values()), Decimal(0))
    return quota.of(resource) / whole if whole else Decimal(0)


def _filled(quota: Amounts, pools: Sequence[Pool], rates: Mapping[str, Hourly]) -> Decimal:
    """Return the month's price of the nodes that a whole quota fills: accelerators first, with the CPUs beside them."""
    hour, left = Decimal(0), quota
    for pool in sorted(pools, key=lambda pool: _price_of_one(pool, rates), reverse=True):
        bounds = pool.node.devices or ("cpu", "memory")
        nodes = min(pool.most, max(_nodes(left.of(resource), pool.node.of(resource)) for resource in bounds))
        left -= pool.node.times(nodes)
        hour += nodes * rates[pool.name].dearest
    return hour * HOURS


def _price_of_one(pool: Pool, rates: Mapping[str, Hourly]) -> tuple[bool, Decimal]:
    """Order pools with accelerators first, the dearest for what they hold before the others."""
    held = Decimal(pool.node.accelerated) or pool.node.cpu
    return bool(pool.node.devices), rates[pool.name].dearest / held if held else Decimal(0)


def _nodes(asked: Decimal, each: Decimal) -> int:
    return int((asked / each).to_integral_value(rounding=ROUND_UP)) if asked > 0 and each else 0
