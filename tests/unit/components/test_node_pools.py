"""Karpenter's node pools: bounded by the settings, GPUs removed only once nobody uses them."""

from __future__ import annotations

from typing import Any

import pytest

from infra.components.cluster.node_pools import NodePools, NodePoolsArgs
from infra.settings.models.cluster import Karpenter, NodePool
from tests.unit.core.parsing import parse
from tests.unit.core.recording import Recording, record

CPU: dict[str, Any] = {
    "name": "cpu",
    "purpose": "cpu",
    "instanceType": "m7i.16xlarge",
    "machine": {"cpu": 64, "memory": "256Gi"},
    "nodes": {"min": 0, "max": 20},
}
GPU: dict[str, Any] = {
    "name": "gpu",
    "purpose": "gpu",
    "instanceType": "p5.48xlarge",
    "machine": {"cpu": 192, "memory": "2Ti", "gpus": 8, "accelerator": "NVIDIA-H100-80GB-HBM3"},
    "zones": ["a", "b"],
    "nodes": {"min": 0, "max": 4},
    "labels": {"example.com/rack": "7"},
    "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
    "capacityType": "spot",
}
SYSTEM: dict[str, Any] = {**CPU, "name": "system", "purpose": "system"}


def declared(*pools: dict[str, Any]) -> Recording:
    karpenter = parse(Karpenter, kind="karpenter", nodeClass={"group": "karpenter.k8s.aws", "kind": "C", "name": "n"})
    args = NodePoolsArgs(
        pools=[parse(NodePool, **pool) for pool in pools], karpenter=karpenter, zones=["a", "b", "c"], context="test"
    )
    return record(lambda: NodePools("node-pools", args))


def spec(pool: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return declared({**pool, **changes}).one("NodePool")["spec"]


def requirements(pool: dict[str, Any]) -> dict[str, list[str]]:
    declared = spec(pool)["template"]["spec"]["requirements"]
    assert {requirement["operator"] for requirement in declared} == {"In"}
    return {requirement["key"]: requirement["values"] for requirement in declared}


@pytest.mark.parametrize(
    ("pool", "limits"),
    [
        (CPU, {"cpu": "1280", "memory": "5Ti"}),
        (GPU, {"cpu": "768", "memory": "8Ti", "nvidia.com/gpu": "32"}),
        (
            {**CPU, "machine": {"cpu": "1500m", "memory": "10G"}, "nodes": {"min": 0, "max": 3}},
            {"cpu": "4500m", "memory": "30G"},
        ),
    ],
)
def test_pool_grows_no_further_than_its_largest_number_of_machines(
    pool: dict[str, Any], limits: dict[str, str]
) -> None:
    assert spec(pool)["limits"] == limits


def test_gpu_machines_are_removed_only_once_they_are_empty() -> None:
    assert spec(GPU)["disruption"]["consolidationPolicy"] == "WhenEmpty"


def test_other_machines_are_removed_when_their_pods_fit_elsewhere() -> None:
    assert spec(CPU)["disruption"]["consolidationPolicy"] == "WhenEmptyOrUnderutilized"


def test_machines_are_of_the_type_zone_and_price_that_is_set() -> None:
    assert requirements(GPU) == {
        "topology.kubernetes.io/zone": ["a", "b"],
        "node.kubernetes.io/instance-type": ["p5.48xlarge"],
        "karpenter.sh/capacity-type": ["spot"],
    }


def test_pool_spans_all_zones_of_the_cluster_unless_it_names_its_own() -> None:
    assert requirements(CPU)["topology.kubernetes.io/zone"] == ["a", "b", "c"]


def test_nodes_carry_pool_purpose_labels_and_taints() -> None:
    template = spec(GPU)["template"]

    assert template["metadata"]["labels"] == {
        "flotilla.dev/pool": "gpu",
        "flotilla.dev/purpose": "gpu",
        "example.com/rack": "7",
    }
    assert template["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert template["spec"]["nodeClassRef"] == {"group": "karpenter.k8s.aws", "kind": "C", "name": "n"}


def test_system_pool_is_not_karpenters() -> None:
    assert [pool["metadata"]["name"] for pool in declared(SYSTEM, CPU, GPU).all("NodePool")] == ["cpu", "gpu"]


def test_pools_wait_for_their_schemas() -> None:
    recording = declared(CPU)
    (bundle,) = [resource.urn for resource in recording.resources if resource.type.endswith(":CrdBundle")]

    assert bundle in recording.resource("NodePool").after
