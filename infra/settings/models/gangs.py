"""Gangs: pods of a training job that a scheduler starts all together or not at all."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.data.common import Installed
from infra.settings.models.resources import Resources
from infra.settings.scalars import DnsLabel, HaReplicas, Noun


class NoGangs(Section):
    """Each pod of a job starts as soon as there is a place for it."""

    kind: Literal["none"]
    """No gangs: pods of one job wait, with the GPUs they hold, for those that found no place."""


class Coscheduling(Section):
    """Kubernetes' scheduler with the coscheduling plugin, beside the cluster's own."""

    kind: Literal["coscheduling"]
    """A second kube-scheduler with the coscheduling plugin of scheduler-plugins. The training operator makes a
    PodGroup for each job and hands its pods to this scheduler."""

    installed: Installed
    """`install` runs the scheduler; `present` where the platform does, with its PodGroups' schema."""

    scheduler_name: DnsLabel = "scheduler-plugins-scheduler"
    """Name by which pods choose the scheduler; where it is `present`, the name it has."""

    replicas: HaReplicas = 2
    """Replicas, of which one leads. Only with `installed: install`."""

    resources: Resources
    """Of each replica; memory grows with the number of nodes and pods. Only with `installed: install`."""

    wait_seconds: Annotated[int, Field(ge=1, le=3600), Noun("seconds, 1 to 3600")] = 60
    """How long places found for some pods are kept while the others look for theirs. A job's own
    `scheduleTimeoutSeconds` goes first. Only with `installed: install`."""


class Volcano(Section):
    """Volcano's scheduler, beside the cluster's own."""

    kind: Literal["volcano"]
    """Volcano. The training operator makes a PodGroup for each job and hands its pods to Volcano."""

    installed: Installed
    """`install` installs its chart; `present` where the platform has it."""

    replicas: HaReplicas = 2
    """Replicas of its scheduler, and of its controller; one of each leads. Only with `installed: install`."""

    resources: Resources
    """Of each replica; memory grows with the number of nodes and pods. Only with `installed: install`."""


Gangs = Annotated[NoGangs | Coscheduling | Volcano, Field(discriminator="kind")]
