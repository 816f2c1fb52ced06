"""What an environment needs of the toolchain besides what all do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.autoscaler import Karpenter, Kwok
from infra.settings.models.gangs import Coscheduling
from infra.settings.models.scheduling import Kueue

if TYPE_CHECKING:
    from infra.settings import Settings


def modules(settings: Settings) -> tuple[str, ...]:
    """Return the toolchain's modules that only some environments need, and this one does."""
    autoscaler, queues = settings.cluster.autoscaler, settings.scheduling.queues
    simulated = isinstance(autoscaler, Karpenter) and isinstance(autoscaler.provider, Kwok)
    queued = isinstance(queues, Kueue) and queues.installed == "install"
    gangs = settings.scheduling.gangs
    together = isinstance(gangs, Coscheduling) and gangs.installed == "install"
    wanted = {"karpenter": simulated, "kueue": queued, "scheduler-plugins": together}
    return tuple(module for module, is_wanted in wanted.items() if is_wanted)
