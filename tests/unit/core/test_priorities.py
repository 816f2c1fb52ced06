"""Who gives way to whom: frozen, because a running cluster's pods are ranked by it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from infra.components.cluster.foundation import Foundation
from infra.core import priorities
from infra.core.priorities import Priority
from tests.unit.core.examples import workload
from tests.unit.core.recording import record

FROZEN = {
    "flotilla-platform": (1_000_000, "PreemptLowerPriority"),
    "flotilla-serving": (100_000, "PreemptLowerPriority"),
    "flotilla-training": (10_000, "PreemptLowerPriority"),
    "flotilla-batch": (1_000, "Never"),
}
MOST_A_USER_MAY_GIVE = 1_000_000_000
"""Kubernetes keeps what is above for its own classes."""


def test_classes_and_their_ranks_are_frozen() -> None:
    declared = record(lambda: Foundation("foundation")).all("PriorityClass")

    assert {each["metadata"]["name"]: (each["value"], each["preemptionPolicy"]) for each in declared} == FROZEN


def test_every_class_ranks_below_the_one_before_and_below_kubernetes_own() -> None:
    values = [each.value for each in priorities.ALL]

    assert all(higher > lower > 0 for higher, lower in pairwise(values))
    assert values[0] <= MOST_A_USER_MAY_GIVE


def test_no_class_is_the_default_of_a_cluster_that_is_not_all_ours() -> None:
    declared = record(lambda: Foundation("foundation")).all("PriorityClass")

    assert not any(each["globalDefault"] for each in declared)


@pytest.mark.parametrize("priority", priorities.ALL, ids=lambda each: each.name)
def test_workload_runs_at_the_priority_it_is_given(priority: Priority) -> None:
    spec = workload(priority=priority).one("Deployment")["spec"]["template"]["spec"]

    assert spec["priorityClassName"] == priority.name


def test_workload_that_names_none_is_the_platforms() -> None:
    assert workload().one("Deployment")["spec"]["template"]["spec"]["priorityClassName"] == "flotilla-platform"
