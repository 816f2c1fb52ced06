"""What is checked of a cluster, on an API server that answers as it is told."""

from __future__ import annotations

from typing import Any

import pytest

from ops.doctor import cluster
from ops.doctor.check import Verdict
from ops.doctor.cluster.api import KubeError
from ops.doctor.cluster.probe import ClusterProbe
from ops.doctor.cluster.target import ClusterTarget, Kind
from tests.unit.doctor_fakes import FakeApi, resource_list

CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}


def looked(name: str, target: ClusterTarget, api: FakeApi) -> list[tuple[str, str]]:
    [found] = [check for check in cluster.CLUSTER if check.name == name]
    verdicts: list[Verdict] = list(found.look(ClusterProbe(target, api)))
    return [(verdict.status, verdict.what) for verdict in verdicts]


def node(name: str, *, zone: str | None = "a", ready: bool = True) -> dict[str, Any]:
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return {"metadata": {"name": name, "labels": labels}, "status": {"conditions": conditions}}


def nodes(*items: dict[str, Any]) -> FakeApi:
    return FakeApi({"/api/v1/nodes": {"items": list(items)}})


@pytest.mark.parametrize(
    ("minor", "status"), [("30", "fail"), ("31", "ok"), ("36+", "ok"), ("37", "warn"), ("40", "warn")]
)
def test_versions_out_of_the_tested_range_are_named(minor: str, status: str) -> None:
    api = FakeApi({"/version": {"major": "1", "minor": minor, "gitVersion": f"v1.{minor}"}})

    assert looked("cluster-version", ClusterTarget(context="c"), api)[0][0] == status


def test_zones_without_a_ready_node_are_named() -> None:
    api = nodes(node("1", zone="a"), node("2", zone="b", ready=False), node("3", zone=None))

    assert looked("cluster-zones", ClusterTarget(context="c", zones=("a", "b")), api) == [
        ("fail", "no node that is ready is in zone b; there are a"),
        ("warn", "1 nodes are in no zone"),
    ]


@pytest.mark.parametrize(
    ("defaults", "ours", "expected"),
    [
        (["gp3"], None, ("ok", "gp3 is the default")),
        ([], None, ("fail", "no storage class is the default")),
        (["gp2", "gp3"], None, ("warn", "gp2, gp3 are all the default")),
        ([], "block", ("ok", "block is going to be the default")),
        (["block"], "block", ("ok", "block is the default")),
        (["gp2"], "block", ("fail", "gp2 is the default already, and Flotilla makes block one")),
    ],
)
def test_the_default_class_is_one_and_ours(defaults: list[str], ours: str | None, expected: tuple[str, str]) -> None:
    items = [{"metadata": {"name": name, "annotations": DEFAULT}} for name in defaults]
    api = FakeApi({CLASSES: {"items": [*items, {"metadata": {"name": "other"}}]}})

    assert looked("cluster-default-class", ClusterTarget(context="c", default_class=ours), api) == [expected]


KINDS = (
    Kind(api_version="apps/v1", name="Deployment"),
    Kind(api_version="kafka.strimzi.io/v1", name="Kafka", comes_with="the chart strimzi-kafka-operator"),
    Kind(api_version="moco.cybozu.com/v1beta2", name="MySQLCluster"),
)


def test_kinds_that_nothing_brings_are_named() -> None:
    api = FakeApi({"/apis/apps/v1": resource_list(Deployment="deployments")})

    assert looked("cluster-crds", ClusterTarget(context="c", kinds=KINDS), api) == [
        ("skipped", "Kafka (kafka.strimzi.io) comes with the chart strimzi-kafka-operator"),
        (
            "fail",
            "MySQLCluster of moco.cybozu.com/v1beta2 is not served, and nothing that Flotilla installs brings it",
        ),
        ("ok", "1 of 3 kinds are served already"),
    ]


def test_kinds_of_another_version_are_named_with_it() -> None:
    api = FakeApi(
        {
            "/apis/apps/v1": resource_list(Deployment="deployments"),
            "/apis/moco.cybozu.com": {"versions": [{"version": "v1beta1"}]},
        }
    )

    [_, (status, what), __] = looked("cluster-crds", ClusterTarget(context="c", kinds=KINDS), api)
    assert status == "fail"
    assert what.endswith("; the API server has moco.cybozu.com as v1beta1")


@pytest.mark.parametrize(
    ("may", "expected"),
    [
        (("*",), ("ok", "the caller may do all that is needed with 2 kinds of objects")),
        (
            ("get", "list", "watch", "create", "patch", "delete"),
            ("fail", "the caller may not escalate, bind clusterroles.rbac.authorization.k8s.io"),
        ),
        (("get", "list", "watch"), ("fail", "the caller may not create, patch, delete deployments.apps")),
    ],
)
def test_verbs_that_the_caller_lacks_are_named(may: tuple[str, ...], expected: tuple[str, str]) -> None:
    kinds = (
        Kind(api_version="apps/v1", name="Deployment"),
        Kind(api_version="rbac.authorization.k8s.io/v1", name="ClusterRole"),
    )
    served = {
        "/apis/apps/v1": resource_list(Deployment="deployments"),
        "/apis/rbac.authorization.k8s.io/v1": resource_list(ClusterRole="clusterroles"),
    }

    assert expected in looked("cluster-permissions", ClusterTarget(context="c", kinds=kinds), FakeApi(served, may=may))


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (KubeError(401, "Unauthorized"), "the API server does not accept the credentials of the kubeconfig"),
        (
            KubeError(403, 'nodes is forbidden: User "x" cannot list resource "nodes"'),
            'the API server refuses: User "x" cannot list resource "nodes"',
        ),
        (KubeError(0, "Connection refused"), "the API server at https://api.test:6443 cannot be asked"),
    ],
)
def test_refusals_of_the_api_server_are_explained(error: KubeError, what: str) -> None:
    verdict = ClusterProbe(ClusterTarget(context="c"), FakeApi()).explain(error)

    assert verdict is not None
    assert verdict.what.startswith(what)
