"""Karpenter's pools: bounded by the settings, GPUs given back only once nobody uses them; and Karpenter itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from infra.components.cluster.node_pools.component import NodePools, NodePoolsArgs
from infra.settings.models.autoscaler import Autoscaler
from infra.settings.models.gpu import Gpu
from infra.settings.models.node_pools import NodePool
from tests.unit.core.parsing import parse
from tests.unit.core.recording import Recording, record

RUNS = {"resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}}}
AWS: dict[str, Any] = {
    "cloud": "aws",
    "clusterName": "c",
    "controllerRole": "arn:aws:iam::123456789012:role/k",
    "nodeRole": "nodes",
    "interruptionQueue": "q",
    "images": "al2023@v20260815",
    "subnetTags": {"net": "private"},
    "securityGroupTags": {"net": "nodes"},
}
CPU: dict[str, Any] = {
    "name": "cpu",
    "purpose": "cpu",
    "instanceType": "m7i.16xlarge",
    "machine": {"cpu": 64, "memory": "256Gi"},
    "nodes": {"min": 0, "max": 20},
}
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
GPU: dict[str, Any] = {
    "name": "gpu",
    "purpose": "gpu",
    "instanceType": "p5.48xlarge",
    "machine": {"cpu": 192, "memory": "2Ti", "gpus": 8, "accelerator": "NVIDIA-H100-80GB-HBM3"},
    "zones": ["a", "b"],
    "nodes": {"min": 0, "max": 4},
    "labels": {"example.com/row": "7"},
    "taints": [TAINT],
    "capacityType": "spot",
}
SYSTEM: dict[str, Any] = {**CPU, "name": "system", "purpose": "system"}


def karpenter(**provider: Any) -> dict[str, Any]:
    return {"kind": "karpenter", **RUNS, "provider": provider or AWS}


def gpu_settings(**nvidia: Any) -> Gpu:
    """Return settings in which the platform brings every agent, with these of NVIDIA's GPUs."""
    agent: dict[str, Any] = {"installed": "present", "resources": RUNS["resources"]}
    present = {
        "devicePlugin": {**agent, "failOnInitError": False},
        "featureDiscovery": {**agent, "nodeFeatureDiscovery": "present"},
        "dcgmExporter": agent,
        "runtimeClass": None,
    }
    other = {"devicePlugin": agent}
    return parse(Gpu, nvidia={**present, **nvidia}, amd=other, neuron=other)


def declared(
    *pools: dict[str, Any], autoscaler: dict[str, Any] | None = None, nvidia: dict[str, Any] | None = None
) -> Recording:
    args = NodePoolsArgs(
        pools=[parse(NodePool, **pool) for pool in pools],
        autoscaler=TypeAdapter[Any](Autoscaler).validate_json(json.dumps(autoscaler or karpenter())),
        gpu=gpu_settings(**(nvidia or {})),
        region="eu",
        zones=["a", "b", "c"],
        context="test",
    )
    return record(lambda: NodePools("node-pools", args))


def spec(pool: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return declared({**pool, **changes}).one("NodePool")["spec"]


def requirements(pool: dict[str, Any], **changes: Any) -> dict[str, list[str]]:
    declared = spec(pool, **changes)["template"]["spec"]["requirements"]
    assert {requirement["operator"] for requirement in declared} == {"In"}
    return {requirement["key"]: requirement["values"] for requirement in declared}


@pytest.mark.parametrize(
    ("pool", "limits"),
    [
        (CPU, {"nodes": "20", "cpu": "1280"}),
        (GPU, {"nodes": "4", "nvidia.com/gpu": "32"}),
        ({**GPU, "machine": {**GPU["machine"], "vendor": "amd"}}, {"nodes": "4", "amd.com/gpu": "32"}),
    ],
)
def test_pool_is_bounded_by_its_number_of_machines_and_by_what_they_count(
    pool: dict[str, Any], limits: dict[str, str]
) -> None:
    assert spec(pool)["limits"] == limits


@pytest.mark.parametrize(("pool", "in_use"), [({**GPU, "capacityType": "on-demand"}, "1"), (CPU, "10%")])
def test_empty_machines_go_at_once_and_used_ones_slowly(pool: dict[str, Any], in_use: str) -> None:
    assert spec(pool)["disruption"]["budgets"] == [
        {"nodes": "100%", "reasons": ["Empty"]},
        {"nodes": in_use, "reasons": ["Underutilized", "Drifted"]},
    ]


def test_gpu_machines_are_removed_only_once_they_are_empty_and_never_for_their_age() -> None:
    assert spec(GPU)["disruption"]["consolidationPolicy"] == "WhenEmpty"
    assert spec(GPU)["template"]["spec"]["expireAfter"] == "Never"


def test_other_machines_are_removed_when_their_pods_fit_elsewhere() -> None:
    assert spec(CPU)["disruption"]["consolidationPolicy"] == "WhenEmptyOrUnderutilized"
    assert spec(CPU)["template"]["spec"]["expireAfter"] == "720h"


def test_disruption_is_as_set() -> None:
    quiet = {"nodes": "0", "schedule": "0 8 * * 1-5", "duration": "10h", "reasons": ["Drifted"]}
    chosen = spec(
        GPU,
        disruption={
            "consolidate": "underutilized",
            "after": "1m",
            "budgets": [quiet],
            "expireAfter": "336h",
            "gracePeriod": "2h",
        },
    )

    assert chosen["disruption"] == {
        "consolidationPolicy": "WhenEmptyOrUnderutilized",
        "consolidateAfter": "1m",
        "budgets": [quiet],
    }
    assert chosen["template"]["spec"]["expireAfter"] == "336h"
    assert chosen["template"]["spec"]["terminationGracePeriod"] == "2h"


def test_machines_are_of_the_type_zone_and_price_that_is_set() -> None:
    assert requirements(GPU) == {
        "topology.kubernetes.io/zone": ["a", "b"],
        "node.kubernetes.io/instance-type": ["p5.48xlarge"],
        "karpenter.sh/capacity-type": ["spot"],
    }


def test_pool_falls_back_to_other_machines_only_where_it_is_set() -> None:
    assert requirements(GPU, capacityType="spot-or-on-demand")["karpenter.sh/capacity-type"] == ["spot", "on-demand"]


def test_pool_spans_all_zones_of_the_cluster_unless_it_names_its_own() -> None:
    assert requirements(CPU)["topology.kubernetes.io/zone"] == ["a", "b", "c"]


def test_nodes_carry_what_pods_choose_them_by() -> None:
    template = spec(GPU, fabric={"kind": "nvlink"})["template"]

    assert template["metadata"]["labels"] == {
        "flotilla.dev/pool": "gpu",
        "flotilla.dev/purpose": "gpu",
        "flotilla.dev/fabric": "nvlink",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "example.com/row": "7",
    }
    assert template["metadata"]["annotations"] == {"flotilla.dev/fabric-domain-label": "nvidia.com/gpu.clique"}
    assert template["spec"]["taints"] == [TAINT]
    assert template["spec"]["nodeClassRef"] == {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}


def test_machines_on_aws_have_the_disk_network_and_group_that_is_set() -> None:
    disk = {"size": "1Ti", "type": "io2", "iops": 9000}
    node_class = declared({**GPU, "disk": disk, "placement": {"within": "group", "name": "near"}}).one("EC2NodeClass")

    assert node_class["spec"]["blockDeviceMappings"] == [
        {
            "deviceName": "/dev/xvda",
            "rootVolume": True,
            "ebs": {
                "volumeSize": "1Ti",
                "volumeType": "io2",
                "iops": 9000,
                "encrypted": True,
                "deleteOnTermination": True,
            },
        }
    ]
    assert node_class["spec"]["placementGroupSelector"] == {"name": "near"}
    assert node_class["spec"]["subnetSelectorTerms"] == [{"tags": {"net": "private"}}]
    assert node_class["spec"]["amiSelectorTerms"] == [{"alias": "al2023@v20260815"}]


def test_system_pool_is_not_karpenters() -> None:
    assert [pool["metadata"]["name"] for pool in declared(SYSTEM, CPU, GPU).all("NodePool")] == ["cpu", "gpu"]


def test_pools_come_after_and_go_before_what_makes_their_nodes() -> None:
    recording = declared(CPU)
    (bundle,) = [resource.urn for resource in recording.resources if resource.type.endswith(":CrdBundle")]
    pool = recording.resource("NodePool")

    assert {bundle, recording.resource("EC2NodeClass").urn, recording.resource("Deployment").urn} < pool.after
    assert pool.inputs["metadata"]["annotations"]["pulumi.com/deletionPropagationPolicy"] == "foreground"


def test_karpenter_is_highly_available_and_never_on_nodes_that_it_manages() -> None:
    recording = declared(CPU, GPU)
    deployment = recording.one("Deployment")
    pod = deployment["spec"]["template"]["spec"]
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]

    assert deployment["spec"]["replicas"] == 2
    assert term["matchExpressions"] == [{"key": "flotilla.dev/purpose", "operator": "In", "values": ["system"]}]
    assert recording.one("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    leases = [rule for rule in recording.one("Role")["rules"] if "leases" in rule["resources"]]
    assert ["karpenter-leader-election"] in [rule.get("resourceNames") for rule in leases]


def test_karpenter_on_aws_has_its_role_region_and_warnings() -> None:
    recording = declared(CPU)
    environment = {
        each["name"]: each.get("value")
        for each in recording.one("Deployment")["spec"]["template"]["spec"]["containers"][0]["env"]
    }

    account = recording.one("ServiceAccount", "karpenter")
    assert account["metadata"]["annotations"]["eks.amazonaws.com/role-arn"] == AWS["controllerRole"]
    assert environment.items() >= {"AWS_REGION": "eu", "CLUSTER_NAME": "c", "INTERRUPTION_QUEUE": "q"}.items()
    assert environment["CPU_REQUESTS"] == "250"
    assert environment["FEATURE_GATES"] == "NodeRepair=false"


def test_only_karpenter_of_simulated_machines_may_make_nodes() -> None:
    def creates_nodes(recording: Recording) -> bool:
        rules: list[dict[str, Any]] = recording.one("ClusterRole")["rules"]
        return any("nodes" in rule["resources"] and "create" in rule["verbs"] for rule in rules)

    assert not creates_nodes(declared(CPU))
    assert creates_nodes(declared(CPU, autoscaler=karpenter(cloud="kwok")))


def test_simulated_machines_are_for_sale_in_each_zone_of_their_pools() -> None:
    twin = {**GPU, "name": "twin", "zones": ["b", "c"]}
    recording = declared(GPU, twin, autoscaler=karpenter(cloud="kwok"))
    (machine,) = json.loads(recording.one("ConfigMap")["data"]["instance-types.json"])
    offered = [
        (offer["Requirements"][0]["values"][0], offer["Requirements"][1]["values"][0], offer["Price"])
        for offer in machine["offerings"]
    ]

    assert machine["resources"]["nvidia.com/gpu"] == "8"
    assert sorted(offered) == [
        (zone, kind, price) for zone in "abc" for kind, price in (("on-demand", 192.0), ("spot", 76.8))
    ]


def test_pods_of_karpenter_are_replaced_when_other_machines_are_for_sale() -> None:
    def digest(*pools: dict[str, Any]) -> str:
        deployment = declared(*pools, autoscaler=karpenter(cloud="kwok")).one("Deployment")
        return deployment["spec"]["template"]["metadata"]["annotations"]["flotilla.dev/machines-digest"]

    assert digest(CPU) == digest(CPU)
    assert digest(CPU) != digest(CPU, GPU)


def test_aks_runs_karpenter_itself() -> None:
    recording = declared({**GPU, "disk": {"size": "512Gi"}}, autoscaler=karpenter(cloud="azure"))

    assert recording.kinds() == ["AKSNodeClass", "NodePool"]
    assert recording.one("AKSNodeClass")["spec"] == {"imageFamily": "Ubuntu2204", "osDiskSizeGB": 512}
    assert recording.one("NodePool")["spec"]["limits"]["nvidia.com/gpu"] == "32"
