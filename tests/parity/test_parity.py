"""The declared platform is the upstream release but for what is accepted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial

import pytest

from infra.kubeflow import declare
from tests.parity import facts, upstream
from tests.parity.accepted import ACCEPTED
from tests.parity.comparison import faults
from tests.parity.facts import Facts, Part
from tests.unit.core.parsing import everything
from tests.unit.core.recording import record

TEAM_ROLES = ("admin", "edit", "view")
AGGREGATED = tuple(f"kubeflow-{role}" for role in TEAM_ROLES)

Look = Callable[[Part], Facts]


def _alike(part: str, look: Look) -> tuple[str, Look, Look]:
    return part, look, look


SUBJECTS: dict[str, tuple[str, Look, Look]] = {
    "training-operator": _alike(upstream.TRAINING, partial(facts.workload, name="training-operator")),
    "istiod": _alike(upstream.ISTIO, partial(facts.workload, name="istiod")),
    "istio-ingressgateway": _alike(upstream.ISTIO, partial(facts.workload, name="istio-ingressgateway")),
    "training roles": _alike(upstream.TRAINING, partial(facts.roles, prefix="kubeflow-training")),
    "kubeflow-training-edit": _alike(upstream.TRAINING, partial(facts.role, name="kubeflow-training-edit")),
    "kubeflow-training-view": _alike(upstream.TRAINING, partial(facts.role, name="kubeflow-training-view")),
    "team roles": _alike(upstream.ROLES, partial(facts.aggregation, names=AGGREGATED)),
    **{
        f"kubeflow-{role}": (
            upstream.ROLES,
            partial(facts.role, name=f"kubeflow-kubernetes-{role}"),
            partial(facts.role, name=f"kubeflow-{role}-kubernetes"),
        )
        for role in TEAM_ROLES
    },
}
"""What is compared: where upstream has it, and how to see it there and here."""


@cache
def ours() -> Part:
    declared = record(lambda: declare(everything(), "test"))
    return facts.of_manifests(resource.inputs for resource in declared.resources)


@pytest.mark.filterwarnings("default")
def test_facts_of_the_release_are_there() -> None:
    if not upstream.FILE.exists():
        warnings.warn(upstream.ABSENT, stacklevel=1)
        pytest.skip(upstream.ABSENT)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_subject_differs_from_upstream_only_as_accepted(subject: str) -> None:
    part, look_there, look_here = SUBJECTS[subject]
    found = faults(subject, look_there(upstream.part(part)), look_here(ours()), ACCEPTED)

    if found:
        listed = "\n".join(found)
        pytest.fail(
            f"{listed}\n\n(- upstream has it, + we have it.) Declare it as upstream does, or add the difference "
            "to tests/parity/accepted.py with its reason; remove what is no difference any more.",
            pytrace=False,
        )


def test_every_accepted_difference_is_of_something_compared_and_has_a_reason() -> None:
    for each in ACCEPTED:
        assert each.subject in SUBJECTS
        assert each.missing or each.added
        assert each.reason.endswith(".")
