"""Rules about gang schedulers: a name of their own, and nodes that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.gangs import VOLCANO
from infra.settings.models.gangs import Coscheduling, NoGangs
from infra.settings.rules.rule import Violation, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.models.settings import Settings
    from infra.settings.quantity import Quantity

PATH = ("scheduling", "gangs")
TAKEN = {
    "default-scheduler": "is the cluster's own scheduler, which knows no gangs",
    VOLCANO: "is taken for Volcano by the training operator, which would make groups of the wrong kind",
}


@rule("scheduling")
def gang_schedulers_have_a_name_of_their_own(settings: Settings) -> Iterator[Violation]:
    """Refuse a scheduler's name that means another one."""
    gangs = settings.scheduling.gangs
    if isinstance(gangs, Coscheduling) and gangs.scheduler_name in TAKEN:
        what = f"{gangs.scheduler_name} {TAKEN[gangs.scheduler_name]}"
        yield Violation((*PATH, "schedulerName"), what, "Write another name")


@rule("cluster", "scheduling")
def gang_schedulers_fit_the_system_pool(settings: Settings) -> Iterator[Violation]:
    """Refuse a gang scheduler that the system nodes cannot hold: it runs on no others."""
    gangs = settings.scheduling.gangs
    system = [pool for pool in settings.cluster.node_pools if pool.purpose == "system"]
    if isinstance(gangs, NoGangs) or gangs.installed == "present" or not system:
        return
    nodes = sum(pool.nodes.max for pool in system)
    if gangs.replicas > nodes:
        what = f"{gangs.replicas} replicas would share at most {nodes} system nodes"
        yield Violation((*PATH, "replicas"), what, f"Write {nodes} or less, or raise the pool's max")
    for key in ("cpu", "memory"):
        request: Quantity = getattr(gangs.resources.requests, key)
        largest: Quantity = max(getattr(each.machine, key) for each in system)
        if request > largest:
            what = f"{request} fits on no system node: the largest has {largest}"
            yield Violation((*PATH, "resources", "requests", key), what, "Write less, or choose larger machines")
