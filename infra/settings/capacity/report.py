"""The capacity of an environment: pools, teams, zones, jobs and money, added up."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from infra.settings.capacity import costs
from infra.settings.capacity.jobs import declared, obstacles
from infra.settings.capacity.pools import Amounts, Pool, for_teams, pools_of, quota_of, together
from infra.settings.queues import beyond, borrow_percent, limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.settings.capacity.costs import Cost
    from infra.settings.capacity.placement import Job
    from infra.settings.models.settings import Settings
    from infra.settings.models.teams import Team


@dataclass(frozen=True, kw_only=True)
class PoolLine:
    """A pool and its cost; None where its machine has no price."""

    pool: Pool
    cost: Cost | None


@dataclass(frozen=True, kw_only=True)
class ResourceLine:
    """A resource, over all cpu and gpu pools.

    Args:
        resource: `cpu`, `memory`, or what pods request a device as.
        promised: the sum of all teams' quotas.
        held: what the pools offer at their largest.
    """

    resource: str
    promised: Decimal
    held: Decimal

    @property
    def overcommit(self) -> Decimal | None:
        """How often what is there has been promised; above 1, teams cannot all use their quotas at once."""
        return self.promised / self.held if self.held else None

    @property
    def missing(self) -> Decimal:
        """What would be missing if all teams used their quotas at once."""
        return max(self.promised - self.held, Decimal(0))


@dataclass(frozen=True, kw_only=True)
class LargestJob:
    """The most that one job of a team can get at once.

    Args:
        accelerator: the product; None for CPUs of pools without accelerators.
        resource: what pods request it as.
        amount: how much of it.
        bound: what keeps it from being more: `quota` or `pools`.
        in_one_zone: the most when all its pods must lie in one zone.
    """

    accelerator: str | None
    resource: str
    amount: Decimal
    bound: str
    in_one_zone: Decimal


@dataclass(frozen=True, kw_only=True)
class TeamLine:
    """A team, its quota, the largest jobs it can start, and its cost; None where a pool has no price."""

    team: Team
    quota: Amounts
    largest: tuple[LargestJob, ...]
    cost: Cost | None


@dataclass(frozen=True, kw_only=True)
class ZoneLine:
    """What losing a zone takes from teams when every pool is full.

    Args:
        zone: the zone.
        lost: what is gone at once.
        remains: what can be used again once elastic pools have made nodes in their other zones.
        gone: pools that lie in this zone only.
    """

    zone: str
    lost: Amounts
    remains: Amounts
    gone: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class JobLine:
    """A job and why it could never run; no reason means that it could."""

    job: Job
    obstacles: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that `flotilla capacity` shows.

    Args:
        settings: the environment.
        pools: every pool.
        resources: quotas against cpu and gpu pools, by resource.
        teams: every team.
        zones: every zone.
        jobs: the settings' example jobs, then those asked for.
        platform: what the pools cost that no team shares; None where one has no price.
        total: what all pools cost together; None where one has no price.
    """

    settings: Settings
    pools: tuple[PoolLine, ...]
    resources: tuple[ResourceLine, ...]
    teams: tuple[TeamLine, ...]
    zones: tuple[ZoneLine, ...]
    jobs: tuple[JobLine, ...]
    platform: Cost | None
    total: Cost | None

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Types of machines that the price list lacks, each once."""
        return tuple(dict.fromkeys(line.pool.instance_type for line in self.pools if line.cost is None))


def report(settings: Settings, more: Iterable[Job] = ()) -> Report:
    """Add up an environment; `more` are jobs to judge besides those of the settings."""
    pools = pools_of(settings.cluster, settings.capacity.node_reserve)
    shared = for_teams(pools)
    rates = costs.hourly(pools, settings.capacity.prices)
    quotas = {team.name: quota_of(team, settings.cluster) for team in settings.teams}
    paid = costs.team_costs(quotas, pools, rates)
    lines = tuple(PoolLine(pool=pool, cost=costs.pool_cost(pool, rates)) for pool in pools)
    return Report(
        settings=settings,
        pools=lines,
        resources=_promised(list(quotas.values()), shared),
        teams=tuple(
            TeamLine(
                team=team,
                quota=quotas[team.name],
                largest=_largest(quotas[team.name], shared),
                cost=paid[team.name],
            )
            for team in settings.teams
        ),
        zones=tuple(_without(zone, shared) for zone in settings.cluster.zones),
        jobs=tuple(judged(settings, [*map(declared, settings.capacity.jobs), *more])),
        platform=_sum([line.cost for line in lines if line.pool not in shared or not settings.teams]),
        total=_sum([line.cost for line in lines]),
    )


def judged(settings: Settings, jobs: Iterable[Job]) -> Iterable[JobLine]:
    """Yield each job with what stands in its way; a team that there is not is such a thing."""
    shared = for_teams(pools_of(settings.cluster, settings.capacity.node_reserve))
    teams = {team.name: team for team in settings.teams}
    for job in jobs:
        team = teams.get(job.team)
        yield JobLine(job=job, obstacles=tuple(_obstacles(job, team, settings, shared)))


def _obstacles(job: Job, team: Team | None, settings: Settings, pools: Sequence[Pool]) -> list[str]:
    if team is None:
        return [f"there is no team {job.team}"]
    queue = limits(team, settings.cluster, pools, settings.scheduling.queues)
    quota = quota_of(team, settings.cluster)
    most = quota + beyond(quota, borrow_percent(settings.scheduling.queues))
    return obstacles(job, pools, team, most, queue)


def _promised(quotas: Sequence[Amounts], pools: Sequence[Pool]) -> tuple[ResourceLine, ...]:
    """Return, by resource, what quotas promise and what the pools hold."""
    held, promised = together(pools), sum(quotas, Amounts())
    return tuple(
        ResourceLine(resource=resource, promised=promised.of(resource), held=held.of(resource))
        for resource in (held + promised).resources
    )


def _largest(quota: Amounts, pools: Sequence[Pool]) -> tuple[LargestJob, ...]:
    kinds = dict.fromkeys(
        (pool.accelerator, resource) for pool in pools for resource in (sorted(pool.node.devices) or ["cpu"])
    )
    return tuple(_largest_on(product, resource, quota, pools) for product, resource in kinds)


def _largest_on(product: str | None, resource: str, quota: Amounts, pools: Sequence[Pool]) -> LargestJob:
    allowed = quota.of(resource)
    like = [pool for pool in pools if pool.accelerator == product]
    held = together(like).of(resource)
    zones = {zone for pool in like for zone in pool.zones}
    in_zone = [sum((pool.nodes_in(zone) * pool.node.of(resource) for pool in like), Decimal(0)) for zone in zones]
    return LargestJob(
        accelerator=product,
        resource=resource,
        amount=min(allowed, held),
        bound="quota" if allowed <= held else "pools",
        in_one_zone=min(allowed, max(in_zone)),
    )


def _without(zone: str, pools: Sequence[Pool]) -> ZoneLine:
    gone = tuple(pool.name for pool in pools if pool.zones == (zone,))
    lost = sum((pool.node.times(pool.share_of(zone)) for pool in pools), Amounts())
    remains = sum(
        (
            pool.whole if pool.elastic else pool.node.times(pool.most - pool.share_of(zone))
            for pool in pools
            if pool.name not in gone
        ),
        Amounts(),
    )
    return ZoneLine(zone=zone, lost=lost, remains=remains, gone=gone)


def _sum(parts: Sequence[Cost | None]) -> Cost | None:
    if any(part is None for part in parts):
        return None
    return sum((part for part in parts if part), costs.NOTHING)
