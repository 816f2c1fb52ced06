"""What a container asks for and may use, and between which numbers a workload scales."""

from __future__ import annotations

from infra.settings.models.base import Section
from infra.settings.scalars import Cpu, HaReplicas, Memory, Percent, Positive


class Requests(Section):
    """What the scheduler sets aside for a container."""

    cpu: Cpu
    """CPUs set aside for each replica."""

    memory: Memory
    """Memory set aside for each replica, in bytes."""


class Limits(Section):
    """What a container may use at most."""

    cpu: Cpu | None = None
    """CPUs above which a replica is slowed down; none by default, as a slowed controller loses its lease."""

    memory: Memory
    """Memory above which a replica is ended and restarted, in bytes."""


class Resources(Section):
    """Requests and limits of a container."""

    requests: Requests
    """What the scheduler sets aside; autoscaling measures against it."""

    limits: Limits
    """What it may use at most."""

    def as_manifest(self) -> dict[str, dict[str, str]]:
        """Return it as a container's `resources`."""
        parts = {"requests": self.requests, "limits": self.limits}
        return {
            name: {key: str(value) for key, value in part.model_dump(mode="python").items() if value is not None}
            for name, part in parts.items()
        }


class Autoscaling(Section):
    """Between which numbers of replicas a workload scales, and on what."""

    min: HaReplicas
    """Replicas at rest; at least 2, so that losing one interrupts nothing."""

    max: Positive
    """Replicas under the highest load."""

    target_cpu_percent: Percent
    """Average CPU use, in percent of the request, that scaling aims at; leave headroom to lose a zone."""
