"""Type tokens and resource names: a change to one deletes and creates what it names, in every cluster."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import infra.components
import infra.core
from infra.core.component import Component
from infra.kubeflow import declare
from tests.unit.core.parsing import alternatives
from tests.unit.core.recording import Declared, record

FROZEN = Path(__file__).with_name("frozen.txt")

TOKENS = {
    "flotilla:cluster:AmdDevicePlugin",
    "flotilla:cluster:CsiDrivers",
    "flotilla:cluster:DcgmExporter",
    "flotilla:cluster:DevicePlugin",
    "flotilla:cluster:FeatureDiscovery",
    "flotilla:cluster:Foundation",
    "flotilla:cluster:GangScheduler",
    "flotilla:cluster:GpuHealth",
    "flotilla:cluster:GpuRuntime",
    "flotilla:cluster:NeuronDevicePlugin",
    "flotilla:cluster:NodePools",
    "flotilla:cluster:Queues",
    "flotilla:cluster:Rook",
    "flotilla:cluster:SnapshotController",
    "flotilla:cluster:Storage",
    "flotilla:cluster:VolcanoScheduler",
    "flotilla:core:Chart",
    "flotilla:core:Job",
    "flotilla:core:Namespace",
    "flotilla:core:NodeAgent",
    "flotilla:core:Workload",
    "flotilla:data:Bootstrap",
    "flotilla:data:Buckets",
    "flotilla:data:Consumers",
    "flotilla:data:Databases",
    "flotilla:data:EventExporter",
    "flotilla:data:Events",
    "flotilla:data:KafkaCluster",
    "flotilla:data:ObjectStore",
    "flotilla:data:RabbitCluster",
    "flotilla:data:TeamObjects",
    "flotilla:mesh:IngressGateway",
    "flotilla:mesh:Istiod",
    "flotilla:ml:TrainingOperator",
    "flotilla:tenancy:Team",
    "flotilla:tenancy:TeamQueue",
    "flotilla:tenancy:TeamRoles",
    "flotilla:tenancy:TeamVolumes",
}


def all_resources() -> list[Declared]:
    """Return whatever Flotilla can declare."""
    return [
        resource
        for settings in alternatives()
        for resource in record(lambda settings=settings: declare(settings, "test")).resources
    ]


def test_tokens_of_all_components_are_frozen() -> None:
    for package in (infra.core, infra.components):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    components = [kind for kind in Component.__subclasses__() if kind.__module__.startswith("infra.")]

    assert {f"flotilla:{kind.group}:{kind.__name__}" for kind in components} == TOKENS


def test_everything_uses_every_component() -> None:
    declared = {resource.type for resource in all_resources()}

    assert declared >= TOKENS


def test_names_of_all_resources_are_frozen() -> None:
    declared = {resource.identity for resource in all_resources()}
    frozen = set(FROZEN.read_text(encoding="utf-8").splitlines())

    gone, new = sorted(frozen - declared), sorted(declared - frozen)

    assert gone == [], "these would be deleted: give their component an alias, or remove them from frozen.txt"
    assert new == [], "these are new: freeze them by adding them to frozen.txt"


def test_frozen_names_are_sorted_so_that_changes_review_well() -> None:
    lines = FROZEN.read_text(encoding="utf-8").splitlines()

    assert lines == sorted(set(lines))
