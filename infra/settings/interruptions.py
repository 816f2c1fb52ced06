"""What happens when a spot machine is taken back: when that is said, and how long its pods have from then on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.settings.models.autoscaler import Aws, GkeComputeClass, Karpenter, Kwok
from infra.settings.spans import seconds

if TYPE_CHECKING:
    from infra.settings.models.autoscaler import Autoscaler
    from infra.settings.models.node_pools import NodePool

GOOGLES_OWN_PODS_SECONDS = 15
"""How long GKE keeps of a notice for pods of its own, which end after all others."""


@dataclass(frozen=True, kw_only=True)
class Notice:
    """What the pods of a spot machine have from its notice.

    Args:
        seconds: from the notice to the end of the machine.
        lost: how many of them pods have nothing of: the notice is on its way, or other pods' turn has come.
    """

    seconds: int
    lost: int

    @property
    def left(self) -> int:
        """Seconds between the signal to a pod and the end of its machine."""
        return max(0, self.seconds - self.lost)


AWS = Notice(seconds=120, lost=30)
"""EC2 gives two minutes. EventBridge, the queue and Karpenter take some seconds each to pass the notice on.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html.
"""

AZURE = Notice(seconds=30, lost=30)
"""Azure gives up to half a minute, often less than ten seconds; the Karpenter of AKS then ends pods within one second.

Sources: https://github.com/Azure/karpenter-provider-azure/issues/1769 and its pull request 1829.
"""

GOOGLE = Notice(seconds=120, lost=GOOGLES_OWN_PODS_SECONDS)
"""Compute Engine gives two minutes where the kubelet is configured to use them, and half a minute where not.

Source: https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms.
"""

SIMULATED_LOST_SECONDS = 5


def notice(autoscaler: Autoscaler) -> Notice | None:
    """Return what spot machines of a back end give; None where it buys none."""
    match autoscaler:
        case Karpenter(provider=Aws()):
            return AWS
        case Karpenter(provider=Kwok(interruption_notice=span)):
            return Notice(seconds=seconds(span), lost=SIMULATED_LOST_SECONDS)
        case Karpenter():
            return AZURE
        case GkeComputeClass():
            return GOOGLE
        case _:
            return None


def grace_period(pool: NodePool, autoscaler: Autoscaler) -> str | None:
    """Return how long Karpenter lets pods of a pool's node end: as set, or what a spot machine's notice leaves.

    Without an end of it, Karpenter would wait for pods that it may not disrupt until the machine is gone, and they
    would never hear a signal.
    """
    if pool.disruption.grace_period:
        return pool.disruption.grace_period
    given = notice(autoscaler)
    return f"{given.left}s" if given and given.left and is_spot(pool) else None


def is_spot(pool: NodePool) -> bool:
    """Return whether machines of a pool may be taken back."""
    return pool.capacity_type != "on-demand"
