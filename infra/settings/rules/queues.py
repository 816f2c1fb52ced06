"""Rules about queues: shares that add up, on pools there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.capacity.pools import for_teams, pools_of, quota_of
from infra.settings.models.scheduling import Kueue
from infra.settings.rules.rule import Violation, repeated, rule
from infra.settings.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.capacity.pools import Pool
    from infra.settings.locate import KeyPath
    from infra.settings.models.cluster import Cluster
    from infra.settings.models.settings import Settings
    from infra.settings.models.teams import Team

MOST_RESOURCES = 64
MOST_FLAVORS = 64
"""What a ClusterQueue holds. Source: sigs.k8s.io/kueue v0.15.2, `config/components/crd/bases`."""


@rule("capacity", "cluster", "scheduling", "teams")
def shares_add_up(settings: Settings) -> Iterator[Violation]:
    """Refuse shares without queues, of pools or devices there are not, or that miss the team's quota."""
    pools = for_teams(pools_of(settings.cluster, settings.capacity.node_reserve))
    for number, team in enumerate(settings.teams):
        path: KeyPath = ("teams", number, "shares")
        if team.shares and not isinstance(settings.scheduling.queues, Kueue):
            yield Violation(path, "nothing guarantees shares without queues", "Remove them, or set scheduling.queues")
            continue
        for index, name in repeated(share.pool for share in team.shares):
            yield Violation((*path, index, "pool"), f"{name} has a share already", "Add them up")
        yield from _unknown(team, pools, path)
        yield from _sums(team, settings.cluster, pools, path)


@rule("cluster", "scheduling")
def queues_hold_every_pool(settings: Settings) -> Iterator[Violation]:
    """Refuse more pools than a queue can have flavors."""
    if not isinstance(settings.scheduling.queues, Kueue):
        return
    count = sum(pool.purpose != "system" for pool in settings.cluster.node_pools)
    if count > MOST_FLAVORS:
        what = f"{count} cpu and gpu pools are more than a queue can hold, {MOST_FLAVORS}"
        yield Violation(("cluster", "nodePools"), what, "Write fewer pools, or scheduling.queues.kind: none")


def _unknown(team: Team, pools: tuple[Pool, ...], path: KeyPath) -> Iterator[Violation]:
    known = {pool.name: pool for pool in pools if pool.node.devices}
    for index, share in enumerate(team.shares):
        pool = known.get(share.pool)
        if pool is None:
            among = f"Write one of {', '.join(known)}" if known else "Remove it"
            what = f"there is no pool {share.pool} with accelerators"
            yield Violation((*path, index, "pool"), what, f"{did_you_mean(share.pool, known)}{among}")
            continue
        for name, count in share.devices.items():
            place = (*path, index, "devices", name)
            if count > pool.whole.device(name):
                what = f"{count} is more than {pool.name} has, {pool.whole.device(name)}"
                yield Violation(place, what, f"Write {pool.whole.device(name)} or less")


def _sums(team: Team, cluster: Cluster, pools: tuple[Pool, ...], path: KeyPath) -> Iterator[Violation]:
    """Hold the shares of each device against the quota; what they leave needs another pool to go to."""
    quota = quota_of(team, cluster)
    for name in sorted({name for share in team.shares for name in share.devices}):
        chosen = {share.pool: share.devices[name] for share in team.shares if name in share.devices}
        total, whole = sum(chosen.values()), quota.device(name)
        others = [pool for pool in pools if pool.name not in chosen and pool.node.device(name)]
        if total > whole or (total < whole and not others):
            what = f"shares of {name} add up to {total}, and the quota is {whole}"
            yield Violation(path, what, f"Write shares of {whole} together")
