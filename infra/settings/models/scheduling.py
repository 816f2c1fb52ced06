"""Scheduling: whether jobs queue for their quota, who gives way, and whose pods start together."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.data.common import Installed
from infra.settings.models.gangs import Gangs, NoGangs
from infra.settings.models.node_pools import Span
from infra.settings.models.resources import Resources
from infra.settings.models.topology import Topology
from infra.settings.scalars import HaReplicas, Noun


class NoQueues(Section):
    """Jobs start at once or wait as pending pods."""

    kind: Literal["none"]
    """No queues: a job's pods are made at once, and quotas refuse what is beyond them."""


class Kueue(Section):
    """Kueue holds each job back until all of it fits its team's quota, and starts it then."""

    kind: Literal["kueue"]
    """Kueue, with a queue for each team and a flavor for each cpu and gpu pool."""

    installed: Installed
    """`install` installs its chart; `present` where the platform has it, and only queues are made."""

    replicas: HaReplicas = 2
    """Replicas of its controller, of which one leads; all answer webhooks. Only with `installed: install`."""

    resources: Resources
    """Of each replica; memory grows with the number of jobs. Only with `installed: install`."""

    borrow_percent: Annotated[int, Field(ge=0, le=1000), Noun("percent, 0 to 1000")] = 0
    """How much a team may use beyond its quota, in percent of it, while other teams leave theirs idle."""

    reclaim: Literal["never", "lower-priority", "any"] = "any"
    """Whose borrowed nodes a team may take back that needs its own quota: nobody's, those of jobs of a lower
    priority, or anybody's. Jobs it ends queue again."""

    preempt_own: bool = True
    """Whether a team's job of a higher priority ends its own of a lower one to start within the quota."""

    ready_within: Span | None = None
    """How long an admitted job may take until all its pods are ready, before it is sent back to the queue. New nodes
    have to be made in that time. Without limit when left out. Only with `installed: install`."""

    topologies: tuple[Topology, ...] = ()
    """How machines are wired, so that a job can ask for pods in one rack or block. Pools in none of them are placed
    machine by machine once there is one."""


Queues = Annotated[NoQueues | Kueue, Field(discriminator="kind")]


class Scheduling(Section):
    """Who starts when, where not everybody can."""

    queues: Queues
    """Whether jobs queue for their quota."""

    gangs: Gangs = NoGangs(kind="none")
    """Whether a training job's pods start all together or not at all."""
