"""Who gives way to whom when nodes run short: platform before serving before training before batch."""

from __future__ import annotations

from dataclasses import dataclass

from infra.core import names


@dataclass(frozen=True, kw_only=True)
class Priority:
    """A PriorityClass.

    Args:
        name: name of the class, as a pod's `priorityClassName` gives it.
        value: its rank; a pod that names no class has 0.
        preempts: whether its pods may end those of a lower class to get a place, rather than only queue before them.
        description: what it is for, shown by `kubectl get priorityclass`.
    """

    name: str
    value: int
    preempts: bool
    description: str


PLATFORM = Priority(
    name=names.PLATFORM_PRIORITY,
    value=1_000_000,
    preempts=True,
    description="The platform's own workloads: they go before any team's pods.",
)
"""Far above every team's pods, below Kubernetes' own `system-cluster-critical` (two thousand million)."""

SERVING = Priority(
    name=names.SERVING_PRIORITY,
    value=100_000,
    preempts=True,
    description="Inference that users wait for: it takes the place of training and batch pods.",
)
TRAINING = Priority(
    name=names.TRAINING_PRIORITY,
    value=10_000,
    preempts=True,
    description="Training jobs: they take the place of batch pods, never of one another's.",
)
BATCH = Priority(
    name=names.BATCH_PRIORITY,
    value=1_000,
    preempts=False,
    description="Work that can wait and be repeated: it uses what is free and ends nobody.",
)

OF_TEAMS = {"serving": SERVING, "training": TRAINING, "batch": BATCH}
"""The classes a team's pods may name, by the word that its settings use."""

ALL = (PLATFORM, *OF_TEAMS.values())
"""Every class, highest first."""

RESERVED = (PLATFORM.name, "system-cluster-critical", "system-node-critical")
"""Classes that no team's pod may name: it could end the platform's pods, or Kubernetes' own."""
