"""The gang scheduler of an environment, where it has one and nobody else brings it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.components.cluster.gangs.coscheduling import GangScheduler, GangSchedulerArgs
from infra.components.cluster.gangs.volcano import VolcanoScheduler
from infra.settings.models.gangs import Coscheduling, Volcano

if TYPE_CHECKING:
    import pulumi

    from infra.settings.models.gangs import Gangs


def declare_gang_scheduler(gangs: Gangs, context: str, opts: pulumi.ResourceOptions) -> list[pulumi.Resource]:
    """Declare the scheduler, and return what has to be there before the training operator starts.

    Args:
        gangs: which scheduler, and who brings it.
        context: the cluster's kubeconfig context.
        opts: options of what is declared.
    """
    match gangs:
        case Coscheduling(installed="install"):
            return GangScheduler("gangs", GangSchedulerArgs(settings=gangs, context=context), opts=opts).ready
        case Volcano(installed="install"):
            return VolcanoScheduler("gangs", gangs, opts=opts).ready
        case _:
            return []
