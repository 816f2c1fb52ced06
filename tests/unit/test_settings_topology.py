"""Topologies as labels of nodes: by who sets them, over pools that have one, and those that get one of machines."""

from __future__ import annotations

from typing import Any

import pytest

from infra.settings import Settings
from infra.settings.rules.topologies import jobs_may_keep_silent_about_topology
from infra.settings.topology import levels_by_pool
from sandbox import nodes
from tests.unit.capacity_settings import GPU, KUEUE, SYSTEM, environment
from tests.unit.core.parsing import parse

HOST = "kubernetes.io/hostname"
CPU = {
    "name": "cpu",
    "purpose": "cpu",
    "instanceType": "c",
    "machine": {"cpu": 10, "memory": "100Gi"},
    "nodes": {"min": 1, "max": 1},
}
FIXED = {**GPU, "zones": ["a"], "nodes": {"min": 8, "max": 8}}
SCALING = {"kind": "cluster-api", "clusterName": "c", "namespace": "n", "version": "v1.36.3"} | {
    "resources": {"requests": {"cpu": 1, "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
    "infrastructure": {"group": "i.x-k8s.io", "kind": "M"},
    "bootstrap": {"group": "b.x-k8s.io", "kind": "T"},
}


def settings(*pools: dict[str, Any], autoscaler: dict[str, Any] | None = None, **topology: Any) -> Settings:
    values = environment(SYSTEM, *pools, borrow_percent=0).model_dump(mode="json")
    whole = {"name": "fabric", "pools": ["gpu"], "levels": ["block", "rack"], **topology}
    values["scheduling"] = {"queues": KUEUE | {"topologies": [whole]}}
    values["cluster"]["autoscaler"] = autoscaler or {"kind": "none"}
    return parse(Settings, **values)


def levels(*pools: dict[str, Any], **given: Any) -> dict[str, tuple[str, ...]]:
    found = settings(*pools, **given)
    return levels_by_pool(found.cluster, found.scheduling.queues)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("flotilla.dev/block", "flotilla.dev/rack")),
        ({"levels": ["zone", "rack"]}, ("topology.kubernetes.io/zone", "flotilla.dev/rack")),
        (
            {"labelledBy": "aws", "levels": ["block", "subblock", "rack"]},
            tuple(f"topology.k8s.aws/network-node-layer-{layer}" for layer in (1, 2, 3)),
        ),
        (
            {"labelledBy": "google", "levels": ["block", "subblock"]},
            ("cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock"),
        ),
        ({"labels": {"rack": "example.com/leaf"}}, ("flotilla.dev/block", "example.com/leaf")),
    ],
)
def test_levels_are_the_labels_of_who_sets_them_and_end_with_the_machine(
    given: dict[str, Any], expected: tuple[str, ...]
) -> None:
    assert levels(FIXED, **given) == {"gpu": (*expected, HOST)}


def test_nvlink_domains_are_told_by_the_label_of_the_fabric() -> None:
    linked = {**FIXED, "fabric": {"kind": "nvlink", "domain": "example.com/domain"}}

    assert levels(linked, levels=["nvlink"]) == {"gpu": ("example.com/domain", HOST)}
    assert levels(linked, levels=["nvlink"], labels={"nvlink": "nvidia.com/gpu.clique"}) == {
        "gpu": ("nvidia.com/gpu.clique", HOST)
    }


def test_fixed_pools_beside_a_topology_are_placed_by_machines() -> None:
    assert levels(CPU, FIXED)["cpu"] == (HOST,)


def test_scaling_pools_are_never_placed() -> None:
    scaling = {**CPU, "nodes": {"min": 0, "max": 3}}

    assert levels(scaling, FIXED, autoscaler=SCALING).keys() == {"gpu"}


def test_without_topologies_nothing_is_placed() -> None:
    found = environment(SYSTEM, FIXED, borrow_percent=0)

    assert levels_by_pool(found.cluster, found.scheduling.queues) == {}


def test_scaling_pools_beside_a_topology_are_worth_a_warning() -> None:
    scaling = {**CPU, "nodes": {"min": 0, "max": 3}}
    (warning,) = jobs_may_keep_silent_about_topology.check(settings(scaling, FIXED, autoscaler=SCALING))

    assert warning.what.startswith("cpu can have no topology, so Kueue gives gpu only to jobs that ask for one")
    assert not list(jobs_may_keep_silent_about_topology.check(settings(CPU, FIXED)))


def test_simulated_machines_stand_two_a_rack_and_four_a_block() -> None:
    made = [node for node in nodes.from_settings(settings(CPU, FIXED)) if node.name.startswith("gpu-")]
    racks = [node.labels["flotilla.dev/rack"] for node in made]
    blocks = [node.labels["flotilla.dev/block"] for node in made]

    assert [racks.index(rack) for rack in racks] == [0, 0, 2, 2, 4, 4, 6, 6]
    assert [blocks.index(block) for block in blocks] == [0, 0, 0, 0, 4, 4, 4, 4]


def test_simulated_machines_of_two_zones_share_no_rack() -> None:
    made = nodes.from_settings(settings({**FIXED, "zones": ["a", "b"]}, levels=["zone", "rack"]))
    zones: dict[str, set[str]] = {}
    for node in made:
        if rack := node.labels.get("flotilla.dev/rack"):
            zones.setdefault(rack, set()).add(node.zone)

    assert len(zones) == 4
    assert all(len(each) == 1 for each in zones.values())


def test_simulated_machines_without_a_topology_tell_no_rack() -> None:
    made = nodes.from_settings(settings(CPU, FIXED))

    assert not any("flotilla.dev/rack" in node.labels for node in made if node.name.startswith(("cpu-", "system-")))
