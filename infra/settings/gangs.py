"""What a gang scheduler means for whoever makes jobs' pods: its name, and the kind that groups them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.gangs import Coscheduling, NoGangs, Volcano

if TYPE_CHECKING:
    from infra.settings.models.gangs import Gangs

VOLCANO = "volcano"
"""Name of Volcano's scheduler. The training operator takes every other name for scheduler-plugins'.

Source: https://github.com/kubeflow/trainer, tag v1.9.4, `cmd/training-operator.v1/main.go`.
"""


def scheduler_name(gangs: Gangs) -> str | None:
    """Return the scheduler that pods of training jobs name; None where it is the cluster's own."""
    match gangs:
        case Coscheduling(scheduler_name=name):
            return name
        case Volcano():
            return VOLCANO
        case NoGangs():
            return None


def pod_group(gangs: Gangs) -> tuple[str, str] | None:
    """Return API version and kind of what the training operator makes for each job; it ends where it is not served."""
    match gangs:
        case Coscheduling():
            return "scheduling.x-k8s.io/v1alpha1", "PodGroup"
        case Volcano():
            return "scheduling.volcano.sh/v1beta1", "PodGroup"
        case NoGangs():
            return None
