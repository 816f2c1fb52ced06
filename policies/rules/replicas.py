"""Two replicas, or a stated reason: declared as a number or as the floor of an autoscaler."""

from __future__ import annotations

from collections.abc import Sequence

from policies.exemptions import SINGLETON
from policies.manifest import UNKNOWN, Manifest, dig, group_kind
from policies.pods import REPLICATED_KINDS
from policies.rule import Finding, Rule, StackRule
from policies.workloads import AUTOSCALER, autoscaler

FEWEST = 2

_WHY = (
    "One replica is an outage whenever its node is drained, fails or is upgraded, and again at every "
    "roll-out. Two survive the loss of either."
)


def check(manifest: Manifest) -> list[str]:
    """Refuse a number of replicas, or an autoscaler's floor, below two."""
    if group_kind(manifest) == AUTOSCALER:
        floor = dig(manifest, "spec", "minReplicas")
        return _below(1 if floor is None else floor, "its floor is {}")
    return _below(dig(manifest, "spec", "replicas"), "declares {}")


def check_undeclared(manifests: Sequence[Manifest]) -> list[Finding]:
    """Refuse a workload that leaves its number of replicas open and has no autoscaler that sets it."""
    return [
        Finding(workload, "declares no number of replicas and no HorizontalPodAutoscaler sets it, so it runs 1")
        for workload in manifests
        if group_kind(workload) in REPLICATED_KINDS
        and dig(workload, "spec", "replicas") is None
        and autoscaler(workload, manifests) is None
    ]


def _below(count: object, phrase: str) -> list[str]:
    if count is None or count is UNKNOWN or not isinstance(count, int) or count >= FEWEST:
        return []
    return [phrase.format(f"{count} replica{'' if count == 1 else 's'}")]


REPLICAS = Rule(
    name="replicas",
    title="Every workload has at least two replicas.",
    why=_WHY,
    remedy=f"Declare at least {FEWEST} replicas, or say in {SINGLETON.annotation} what a second would break",
    kinds=REPLICATED_KINDS | {AUTOSCALER},
    exemptions=(SINGLETON,),
    check=check,
)

REPLICAS_DECLARED = StackRule(
    name="replicas-declared",
    title="The number of replicas is declared, or left to an autoscaler whose floor is two.",
    why=_WHY,
    remedy="Declare `spec.replicas`, or a HorizontalPodAutoscaler with `minReplicas` of 2 or more",
    kinds=REPLICATED_KINDS | {AUTOSCALER},
    exemptions=(SINGLETON,),
    check=check_undeclared,
)
