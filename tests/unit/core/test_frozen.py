"""Type tokens and resource names: a change to one deletes and creates what it names, in every cluster."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import infra.components
import infra.core
from infra.core.component import Component
from infra.kubeflow import declare
from tests.unit.core.parsing import everything
from tests.unit.core.recording import record

FROZEN = Path(__file__).with_name("frozen.txt")

TOKENS = {
    "flotilla:cluster:DevicePlugin",
    "flotilla:cluster:Foundation",
    "flotilla:cluster:NodePools",
    "flotilla:cluster:SharedStorage",
    "flotilla:core:Namespace",
    "flotilla:core:NodeAgent",
    "flotilla:core:Workload",
    "flotilla:mesh:IngressGateway",
    "flotilla:mesh:Istiod",
    "flotilla:ml:TrainingOperator",
    "flotilla:tenancy:Team",
    "flotilla:tenancy:TeamRoles",
}


def test_tokens_of_all_components_are_frozen() -> None:
    for package in (infra.core, infra.components):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    components = [kind for kind in Component.__subclasses__() if kind.__module__.startswith("infra.")]

    assert {f"flotilla:{kind.group}:{kind.__name__}" for kind in components} == TOKENS


def test_everything_uses_every_component() -> None:
    declared = {resource.type for resource in record(lambda: declare(everything(), "test")).resources}

    assert declared >= TOKENS


def test_names_of_all_resources_are_frozen() -> None:
    declared = {resource.identity for resource in record(lambda: declare(everything(), "test")).resources}
    frozen = set(FROZEN.read_text(encoding="utf-8").splitlines())

    gone, new = sorted(frozen - declared), sorted(declared - frozen)

    assert gone == [], "these would be deleted: give their component an alias, or remove them from frozen.txt"
    assert new == [], "these are new: freeze them by adding them to frozen.txt"


def test_frozen_names_are_sorted_so_that_changes_review_well() -> None:
    lines = FROZEN.read_text(encoding="utf-8").splitlines()

    assert lines == sorted(set(lines))
