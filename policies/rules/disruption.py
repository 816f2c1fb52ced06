"""PodDisruptionBudgets: one for every replicated workload, and each lets a node drain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil

from policies.exemptions import SINGLETON
from policies.labels import selects
from policies.manifest import UNKNOWN, Manifest, dig, group_kind, name, namespace
from policies.pods import REPLICATED_KINDS, pod_labels
from policies.rule import Finding, StackRule
from policies.workloads import AUTOSCALER, floor

BUDGET = "PodDisruptionBudget.policy"

_KINDS = REPLICATED_KINDS | {BUDGET, AUTOSCALER}


def check_coverage(manifests: Sequence[Manifest]) -> list[Finding]:
    """Refuse a workload whose pods no PodDisruptionBudget selects."""
    budgets = _of(manifests, {BUDGET})
    return [
        Finding(workload, "no PodDisruptionBudget selects its pods")
        for workload in _of(manifests, REPLICATED_KINDS)
        if all(_guards(budget, workload) is False for budget in budgets)
    ]


def check_drain(manifests: Sequence[Manifest]) -> list[Finding]:
    """Refuse budgets that allow no eviction, and workloads that several budgets select."""
    budgets = _of(manifests, {BUDGET})
    workloads = _of(manifests, REPLICATED_KINDS)
    return [
        Finding(workload, f"{len(guards)} PodDisruptionBudgets select its pods ({_names(guards)})")
        for workload in workloads
        if len(guards := [budget for budget in budgets if _guards(budget, workload)]) > 1
    ] + [
        Finding(budget, f"lets no pod of {_names(guarded)} be evicted: {_limit(budget)} of {expected} replicas")
        for budget in budgets
        if (guarded := _guarded(budget, workloads))
        and (expected := _expected(guarded, manifests))
        and _allowed(budget, expected) < 1
    ]


def _of(manifests: Sequence[Manifest], kinds: frozenset[str] | set[str]) -> list[Manifest]:
    return [manifest for manifest in manifests if group_kind(manifest) in kinds]


def _names(manifests: Sequence[Manifest]) -> str:
    return ", ".join(str(name(manifest)) for manifest in manifests)


def _guards(budget: Manifest, workload: Manifest) -> bool | None:
    places = namespace(budget), namespace(workload)
    if UNKNOWN not in places and places[0] != places[1]:
        return False
    selected = selects(dig(budget, "spec", "selector"), pod_labels(workload))
    return None if selected and UNKNOWN in places else selected


def _guarded(budget: Manifest, workloads: Sequence[Manifest]) -> list[Manifest]:
    """Return the workloads a budget selects; none when any answer is uncertain: nothing can be said then."""
    answers = [(workload, _guards(budget, workload)) for workload in workloads]
    if any(answer is None for _, answer in answers):
        return []
    return [workload for workload, answer in answers if answer]


def _expected(workloads: Sequence[Manifest], manifests: Sequence[Manifest]) -> int:
    """Return how many pods there are at least; 0 when that is not known, or when there are none to evict."""
    floors = [floor(workload, manifests) for workload in workloads]
    return 0 if None in floors else sum(count or 0 for count in floors)


def _allowed(budget: Manifest, expected: int) -> int:
    """Return how many of `expected` pods may be evicted; percentages round up, as in Kubernetes."""
    most, least = dig(budget, "spec", "maxUnavailable"), dig(budget, "spec", "minAvailable")
    if UNKNOWN in (most, least):
        return expected
    if most is not None:
        return _count(most, expected, otherwise=expected)
    return expected - _count(1 if least is None else least, expected, otherwise=0)


def _count(value: object, expected: int, *, otherwise: int) -> int:
    """Return a number or percentage as a number of pods; `otherwise` for what the API server will refuse."""
    shape = re.fullmatch(r"(\d+)(%?)", str(value))
    if not shape:
        return otherwise
    number = int(shape[1])
    return ceil(number * expected / 100) if shape[2] else number


def _limit(budget: Manifest) -> str:
    spec = dig(budget, "spec")
    for key in ("maxUnavailable", "minAvailable"):
        if (value := dig(spec, key)) is not None:
            return f"{key} {value}"
    return "minAvailable 1"


DISRUPTION_BUDGET = StackRule(
    name="disruption-budget",
    title="Every replicated workload has a PodDisruptionBudget.",
    why=("Without one, draining several nodes at once (an upgrade, a scale-down) may evict all replicas together."),
    remedy="Declare a PodDisruptionBudget in the same namespace whose selector matches the pods' labels",
    kinds=_KINDS,
    exemptions=(SINGLETON,),
    check=check_coverage,
)

DRAIN = StackRule(
    name="drain",
    title="PodDisruptionBudgets let a node drain.",
    why=(
        "A budget that allows no eviction, or two budgets over the same pod, stop every drain: node upgrades "
        "hang until someone deletes the budget by hand."
    ),
    remedy="Allow one eviction (`maxUnavailable: 1`), and select each pod by one PodDisruptionBudget only",
    kinds=_KINDS,
    check=check_drain,
)
