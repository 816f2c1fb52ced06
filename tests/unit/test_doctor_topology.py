"""Nodes that say where they stand, and the kind that the training operator makes for each job."""

from __future__ import annotations

from typing import Any

import pytest

from infra.settings import Settings
from ops.doctor import cluster
from ops.doctor.cluster.probe import ClusterProbe
from ops.doctor.cluster.target import ClusterTarget
from ops.doctor.plan.cluster import cluster_target
from tests.unit.core.parsing import everything, parse
from tests.unit.doctor_fakes import FakeApi

LEVELS = ("flotilla.dev/rack", "kubernetes.io/hostname")
RESOURCES = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}


def node(name: str, rack: str | None = None, pool: str = "gpu") -> dict[str, Any]:
    labels = {"flotilla.dev/pool": pool, "kubernetes.io/hostname": name}
    return {"metadata": {"name": name, "labels": labels | ({"flotilla.dev/rack": rack} if rack else {})}, "status": {}}


def looked(*nodes: dict[str, Any], levels: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    [found] = [check for check in cluster.CLUSTER if check.name == "cluster-topology"]
    api = FakeApi({"/api/v1/nodes": {"items": list(nodes)}})
    target = ClusterTarget(context="c", levels=levels)
    return [(verdict.status, verdict.what) for verdict in found.look(ClusterProbe(target, api))]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ((node("1", "r1"), node("2", "r2")), ("ok", f"2 nodes say where they stand, by {', '.join(LEVELS)}")),
        ((node("1", "r1"), node("2")), ("fail", "of 2 nodes, 1 lack flotilla.dev/rack: 2")),
        ((node("1", "r1", pool="cpu"),), ("skipped", "has no node yet")),
    ],
)
def test_nodes_without_a_levels_label_are_named(nodes: tuple[dict[str, Any], ...], expected: tuple[str, str]) -> None:
    assert looked(*nodes, levels={"gpu": LEVELS}) == [expected]


def test_nothing_is_asked_where_nothing_is_placed() -> None:
    assert looked(node("1"), levels={}) == []


@pytest.mark.parametrize(
    ("gangs", "group", "comes_with"),
    [
        ({"kind": "coscheduling", "installed": "present"}, "scheduling.x-k8s.io", None),
        ({"kind": "coscheduling", "installed": "install"}, "scheduling.x-k8s.io", "the CRD bundle gangs-crds"),
        ({"kind": "volcano", "installed": "present"}, "scheduling.volcano.sh", None),
        ({"kind": "volcano", "installed": "install"}, "scheduling.volcano.sh", "the chart volcano"),
    ],
)
def test_groups_of_pods_have_to_be_served(gangs: dict[str, Any], group: str, comes_with: str | None) -> None:
    values = everything().model_dump(mode="json")
    values["scheduling"] = {"queues": {"kind": "none"}, "gangs": {**gangs, "resources": RESOURCES}}
    kinds = cluster_target(parse(Settings, **values), "c").kinds

    assert [(kind.group, kind.comes_with) for kind in kinds if kind.name == "PodGroup"] == [(group, comes_with)]
