"""How many pods a workload keeps, by its own count or its autoscaler's floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.manifest import UNKNOWN, dig, group_kind, name, namespace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from policies.manifest import Manifest

AUTOSCALER = "HorizontalPodAutoscaler.autoscaling"


def autoscaler(workload: Manifest, manifests: Sequence[Manifest]) -> Manifest | None:
    """Return the autoscaler that targets the workload, or one of which that cannot be excluded yet."""
    for manifest in manifests:
        if group_kind(manifest) != AUTOSCALER:
            continue
        target = dig(manifest, "spec", "scaleTargetRef")
        pairs = (
            (namespace(manifest), namespace(workload)),
            (dig(target, "kind"), workload["kind"]),
            (dig(target, "name"), name(workload)),
        )
        if all(left == right or UNKNOWN in (left, right) for left, right in pairs):
            return manifest
    return None


def floor(workload: Manifest, manifests: Sequence[Manifest]) -> int | None:
    """Return how many pods the workload keeps at least; None when that cannot be known yet."""
    scaler = autoscaler(workload, manifests)
    count = dig(scaler, "spec", "minReplicas") if scaler else dig(workload, "spec", "replicas")
    if count is None:
        return 1
    return count if isinstance(count, int) else None
