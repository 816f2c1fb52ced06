"""Rules about topologies: levels that nodes tell of, on pools whose nodes are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.gangs import NoGangs
from infra.settings.models.node_pools import InOneRack, NvLink
from infra.settings.models.scheduling import Kueue
from infra.settings.rules.rule import Violation, repeated, rule
from infra.settings.suggest import did_you_mean
from infra.settings.topology import LABELS, MACHINES, ORDER, elastic, label_of, levels_by_pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.locate import KeyPath
    from infra.settings.models.node_pools import NodePool
    from infra.settings.models.settings import Settings
    from infra.settings.models.topology import Topology

PATH = ("scheduling", "queues", "topologies")


@rule("scheduling")
def topologies_are_named_once(settings: Settings) -> Iterator[Violation]:
    """Refuse two topologies of one name, and the name of the one that pools without any get."""
    for index, name in repeated(topology.name for topology in _topologies(settings)):
        yield Violation((*PATH, index, "name"), f"another topology is called {name}", "Write another name")
    for index, topology in enumerate(_topologies(settings)):
        if topology.name == MACHINES:
            what = f"{MACHINES} is what the topology of all other pools is called"
            yield Violation((*PATH, index, "name"), what, "Write another name")


@rule("cluster", "scheduling")
def topologies_are_of_pools_there_are(settings: Settings) -> Iterator[Violation]:
    """Refuse a topology of pools that do not exist, run no team's pods, or have a topology already."""
    known = [pool.name for pool in settings.cluster.node_pools if pool.purpose != "system"]
    seen: dict[str, str] = {}
    for number, topology in enumerate(_topologies(settings)):
        for index, name in enumerate(topology.pools):
            path = (*PATH, number, "pools", index)
            if name not in known:
                among = f"Write one of {', '.join(known)}" if known else "Remove the topology"
                yield Violation(path, f"there is no cpu or gpu pool {name}", f"{did_you_mean(name, known)}{among}")
            elif name in seen:
                yield Violation(path, f"{name} is in the topology {seen[name]} already", "Remove one")
            seen.setdefault(name, topology.name)


@rule("scheduling")
def topology_levels_go_inwards(settings: Settings) -> Iterator[Violation]:
    """Refuse levels twice or out of order: Kueue looks for the smallest part from the largest down."""
    for number, topology in enumerate(_topologies(settings)):
        wanted = [level for level in ORDER if level in topology.levels]
        if list(topology.levels) != wanted:
            what = f"{', '.join(topology.levels)} do not go from the largest to the smallest, each once"
            yield Violation((*PATH, number, "levels"), what, f"Write [{', '.join(wanted)}]")


@rule("cluster", "scheduling")
def topology_levels_have_labels(settings: Settings) -> Iterator[Violation]:
    """Refuse levels whose label nobody sets: Kueue overlooks every node that lacks one of them."""
    for number, topology in enumerate(_topologies(settings)):
        pools = [pool for pool in settings.cluster.node_pools if pool.name in topology.pools]
        yield from _without_label(topology, pools, (*PATH, number))
        for level in ORDER[1:]:
            if getattr(topology.labels, level) and level not in topology.levels:
                what = f"is the label of a level that {topology.name} does not have"
                yield Violation((*PATH, number, "labels", level), what, f"Remove it, or add {level} to levels")


def _without_label(topology: Topology, pools: list[NodePool], path: KeyPath) -> Iterator[Violation]:
    found: dict[str, str] = {}
    for index, level in enumerate(topology.levels):
        label = label_of(level, topology, pools)
        if label in found:
            what = f"{level} has the label of {found[label]}, {label}"
            yield Violation((*path, "levels", index), what, f"Remove one, or write another label under labels.{level}")
        elif label:
            found[label] = level
        elif level == "nvlink":
            what = f"{_unlinked(pools)}, so no one label tells which nodes share a domain"
            remedy = "Give all its pools the same fabric, of kind nvlink, or write the label under labels.nvlink"
            yield Violation((*path, "levels", index), what, remedy)
        else:
            sold = " and ".join(LABELS[topology.labelled_by])
            what = f"nodes labelled by {topology.labelled_by} tell no {level}, only {sold}"
            yield Violation((*path, "levels", index), what, f"Remove it, or write the label under labels.{level}")


def _unlinked(pools: list[NodePool]) -> str:
    without = [pool.name for pool in pools if not isinstance(pool.fabric, NvLink)]
    return f"{', '.join(without)} has no NVLink fabric" if without else "its pools name different labels"


@rule("cluster", "scheduling")
def topologies_are_of_nodes_that_stay(settings: Settings) -> Iterator[Violation]:
    """Refuse a topology of a pool that scales: Kueue admits a job only to nodes that exist, and none would be made."""
    pools = {pool.name: pool for pool in settings.cluster.node_pools}
    for number, topology in enumerate(_topologies(settings)):
        for index, name in enumerate(topology.pools):
            pool = pools.get(name)
            if pool and elastic(pool, settings.cluster):
                size = f"{pool.nodes.min} to {pool.nodes.max} nodes"
                what = f"{name} has {size}, and a job would wait for nodes that are made only once it starts"
                remedy = "Remove it, and say placement for the pool; or give the pool one size"
                yield Violation((*PATH, number, "pools", index), what, remedy)


@rule("cluster", "scheduling")
def topologies_tell_racks_apart(settings: Settings) -> Iterator[Violation]:
    """Refuse the level rack on a pool that lies in one rack: every job would be in the same one."""
    pools = {pool.name: pool for pool in settings.cluster.node_pools}
    for number, topology in enumerate(_topologies(settings)):
        for index, name in enumerate(topology.pools):
            pool = pools.get(name)
            if pool and "rack" in topology.levels and isinstance(pool.placement, InOneRack):
                what = f"{name} lies in the rack {pool.placement.name}, and Kueue keeps a job's pods on one pool"
                remedy = "Write one pool of all racks, without placement"
                yield Violation((*PATH, number, "pools", index), what, remedy)


@rule("scheduling")
def topologies_have_one_scheduler(settings: Settings) -> Iterator[Violation]:
    """Refuse topologies with a gang scheduler: Kueue has chosen every pod's node before the scheduler sees the pods."""
    gangs = settings.scheduling.gangs
    if _topologies(settings) and not isinstance(gangs, NoGangs):
        what = f"{gangs.kind} would keep places for pods whose nodes Kueue has chosen already, all of a job at once"
        yield Violation(("scheduling", "gangs", "kind"), what, "Write none, or remove scheduling.queues.topologies")


@rule("cluster", "scheduling")
def jobs_may_keep_silent_about_topology(settings: Settings) -> Iterator[Violation]:
    """Warn of scaling pools beside topologies: jobs that ask for no topology then get only the scaling ones."""
    placed = levels_by_pool(settings.cluster, settings.scheduling.queues)
    teams = [pool.name for pool in settings.cluster.node_pools if pool.purpose != "system"]
    rest = [name for name in teams if name not in placed]
    if placed and rest:
        what = (
            f"{', '.join(rest)} can have no topology, so Kueue gives {', '.join(placed)} only to jobs that ask for one"
        )
        remedy = "Have such jobs' pods carry kueue.x-k8s.io/podset-unconstrained-topology, or give the pools one size"
        yield Violation(PATH, what, remedy)


def _topologies(settings: Settings) -> tuple[Topology, ...]:
    queues = settings.scheduling.queues
    return queues.topologies if isinstance(queues, Kueue) else ()
