"""What pools' machines offer goes by the name and number that pods request, whoever's they are and however shared."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.components.test_node_pools import GPU, RUNS, declared, karpenter
from tests.unit.components.test_node_pools_elsewhere import CLUSTER_API, OWNED

TURNS = {"name": "s", "kind": "time-slicing", "pools": ["gpu"], "replicas": 4}
AS_GPUS = {**TURNS, "rename": False}
ALIKE = {
    "name": "s",
    "kind": "mig",
    "pools": ["gpu"],
    "strategy": "single",
    "slices": [{"profile": "1g.10gb", "count": 7}],
}
CUT = {**ALIKE, "strategy": "mixed"}


def machine(**changes: Any) -> dict[str, Any]:
    return {**GPU["machine"], **changes}


@pytest.mark.parametrize(
    ("changes", "sharing", "device"),
    [
        ({}, (), ("nvidia.com/gpu", "8")),
        ({"vendor": "amd"}, (), ("amd.com/gpu", "8")),
        ({"vendor": "neuron", "gpus": 16}, (), ("aws.amazon.com/neuron", "16")),
        ({}, (TURNS,), ("nvidia.com/gpu.shared", "32")),
        ({}, (AS_GPUS,), ("nvidia.com/gpu", "32")),
        ({}, (ALIKE,), ("nvidia.com/gpu", "56")),
        ({}, (CUT,), ("nvidia.com/mig-1g.10gb", "56")),
    ],
)
def test_cluster_autoscaler_is_told_what_pods_request(
    changes: dict[str, Any], sharing: tuple[dict[str, Any], ...], device: tuple[str, str]
) -> None:
    pool = {**OWNED, "machine": machine(**changes)}
    first = declared(pool, autoscaler=CLUSTER_API, nvidia={"sharing": sharing}).all("MachineDeployment")[0]
    prefix = "capacity.cluster-autoscaler.kubernetes.io"
    told = first["metadata"]["annotations"]

    assert (told[f"{prefix}/gpu-type"], told[f"{prefix}/gpu-count"]) == device


@pytest.mark.parametrize("cloud", ["aws", "kwok"])
@pytest.mark.parametrize(
    ("changes", "sharing", "limits"),
    [
        ({}, (), {"nodes": "4", "nvidia.com/gpu": "32"}),
        ({"vendor": "neuron", "gpus": 16}, (), {"nodes": "4", "aws.amazon.com/neuron": "64"}),
        ({}, (AS_GPUS,), {"nodes": "4", "cpu": "768"}),
        ({}, (ALIKE,), {"nodes": "4", "cpu": "768"}),
    ],
)
def test_pool_is_bounded_by_what_a_machine_has_from_its_first_moment(
    cloud: str, changes: dict[str, Any], sharing: tuple[dict[str, Any], ...], limits: dict[str, str]
) -> None:
    autoscaler = karpenter() if cloud == "aws" else {"kind": "karpenter", **RUNS, "provider": {"cloud": cloud}}
    pool = {**GPU, "machine": machine(**changes)}

    assert (
        declared(pool, autoscaler=autoscaler, nvidia={"sharing": sharing}).one("NodePool")["spec"]["limits"] == limits
    )


def test_aks_counts_parts_where_gpus_are_shared() -> None:
    recording = declared(GPU, autoscaler=karpenter(cloud="azure"), nvidia={"sharing": [AS_GPUS]})

    assert recording.one("NodePool")["spec"]["limits"] == {"cpu": "768", "memory": "8Ti", "nvidia.com/gpu": "128"}


@pytest.mark.parametrize(
    ("changes", "sharing", "device"),
    [
        ({"vendor": "amd"}, (), {"amd.com/gpu": "8"}),
        ({}, (AS_GPUS,), {"nvidia.com/gpu": "32"}),
        ({}, (ALIKE,), {"nvidia.com/gpu": "56"}),
    ],
)
def test_simulated_machines_offer_what_their_pool_makes_of_their_gpus(
    changes: dict[str, Any], sharing: tuple[dict[str, Any], ...], device: dict[str, str]
) -> None:
    pool = {**GPU, "machine": machine(**changes)}
    recording = declared(pool, autoscaler=karpenter(cloud="kwok"), nvidia={"sharing": sharing})
    (sold,) = json.loads(recording.one("ConfigMap")["data"]["instance-types.json"])

    assert {name: count for name, count in sold["resources"].items() if "/" in name} == device
