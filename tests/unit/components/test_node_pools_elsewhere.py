"""Pools whose nodes Google or Cluster API make."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.components.test_node_pools import CPU, GPU, RUNS, declared

GKE: dict[str, Any] = {"kind": "gke-compute-class"}
CLUSTER_API: dict[str, Any] = {
    "kind": "cluster-api",
    **RUNS,
    "clusterName": "fleet",
    "namespace": "machines",
    "version": "v1.36.3",
    "infrastructure": {"group": "infrastructure.cluster.x-k8s.io", "kind": "Metal3MachineTemplate"},
    "bootstrap": {"group": "bootstrap.cluster.x-k8s.io", "kind": "KubeadmConfigTemplate"},
}
OWNED = {**GPU, "capacityType": "on-demand", "nodes": {"min": 1, "max": 5}}


def compute_class(pool: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return declared({**pool, **changes}, autoscaler=GKE).one("ComputeClass")["spec"]


def test_google_is_asked_for_spot_machines_first_and_for_others_second() -> None:
    spec = compute_class(GPU, capacityType="spot-or-on-demand", placement={"within": "group", "name": "near"})
    common = {
        "machineType": "p5.48xlarge",
        "location": {"zones": ["a", "b"]},
        "gpu": {"type": "nvidia-h100-80gb", "count": 8},
        "placement": {"policyName": "near"},
    }

    assert spec["priorities"] == [{**common, "spot": True}, {**common, "spot": False}]
    assert spec["whenUnsatisfiable"] == "DoNotScaleUp"
    assert spec["nodePoolConfig"]["nodeLabels"]["flotilla.dev/pool"] == "gpu"
    assert spec["nodePoolConfig"]["taints"] == GPU["taints"]


@pytest.mark.parametrize(
    ("pool", "after", "policy"),
    [
        (GPU, "5m", {"consolidationDelayMinutes": 5, "gpuConsolidationThreshold": 0}),
        (CPU, "1h30m", {"consolidationDelayMinutes": 90, "consolidationThreshold": 50}),
        (CPU, "5s", {"consolidationDelayMinutes": 1, "consolidationThreshold": 50}),
    ],
)
def test_google_gives_gpu_machines_back_only_when_nothing_uses_them(
    pool: dict[str, Any], after: str, policy: dict[str, int]
) -> None:
    assert compute_class(pool, disruption={"after": after})["autoscalingPolicy"] == policy


def test_google_gives_machines_the_disk_that_is_set() -> None:
    (priority,) = compute_class(CPU, disk={"size": "1Ti", "type": "pd-ssd"})["priorities"]

    assert priority["storage"] == {"bootDiskSize": 1024, "bootDiskType": "pd-ssd"}
    assert "gpu" not in priority


def test_machine_sets_have_together_what_the_pool_has() -> None:
    prefix = "cluster.x-k8s.io/cluster-api-autoscaler-node-group"
    sets = declared(OWNED, autoscaler=CLUSTER_API).all("MachineDeployment")
    sizes = [[each["metadata"]["annotations"][f"{prefix}-{end}-size"] for end in ("min", "max")] for each in sets]

    assert [each["metadata"]["name"] for each in sets] == ["gpu-a", "gpu-b"]
    assert [each["metadata"]["namespace"] for each in sets] == ["machines", "machines"]
    assert sizes == [["1", "3"], ["0", "2"]]
    assert all("replicas" not in each["spec"] for each in sets)


def test_autoscaler_knows_machines_of_which_there_is_none_yet() -> None:
    first = declared(OWNED, autoscaler=CLUSTER_API).all("MachineDeployment")[0]
    prefix = "capacity.cluster-autoscaler.kubernetes.io"
    said = {
        key.removeprefix(f"{prefix}/"): value
        for key, value in first["metadata"]["annotations"].items()
        if key.startswith(prefix)
    }
    labels = said.pop("labels").split(",")

    assert said == {
        "cpu": "192",
        "memory": "2Ti",
        "gpu-type": "nvidia.com/gpu",
        "gpu-count": "8",
        "taints": "nvidia.com/gpu=present:NoSchedule",
    }
    assert {"flotilla.dev/pool=gpu", "topology.kubernetes.io/zone=a"} < set(labels)


def test_machines_come_from_the_templates_of_the_pools_name() -> None:
    machine = declared(OWNED, autoscaler=CLUSTER_API).all("MachineDeployment")[0]["spec"]["template"]["spec"]

    assert machine["failureDomain"] == "a"
    assert machine["infrastructureRef"] == {
        "apiGroup": "infrastructure.cluster.x-k8s.io",
        "kind": "Metal3MachineTemplate",
        "name": "gpu",
    }
    assert machine["taints"] == [{**GPU["taints"][0], "propagation": "Always"}]


def test_cloud_may_make_the_machines_as_a_group_of_its_own() -> None:
    pools = declared(OWNED, autoscaler={**CLUSTER_API, "machines": "MachinePool"}).all("MachinePool")

    assert [pool["spec"]["failureDomains"] for pool in pools] == [["a"], ["b"]]
    assert all("selector" not in pool["spec"] for pool in pools)


def test_cluster_autoscaler_is_highly_available_and_never_on_nodes_that_it_manages() -> None:
    recording = declared(OWNED, autoscaler=CLUSTER_API)
    deployment = recording.one("Deployment")
    container = deployment["spec"]["template"]["spec"]["containers"][0]

    assert deployment["spec"]["replicas"] == 2
    assert "--leader-elect=true" in container["args"]
    assert (
        "requiredDuringSchedulingIgnoredDuringExecution"
        in (deployment["spec"]["template"]["spec"]["affinity"]["nodeAffinity"])
    )
    assert any(rule.get("resourceNames") == ["cluster-autoscaler"] for rule in recording.one("Role")["rules"])
    groups = {group for rule in recording.one("ClusterRole")["rules"] for group in rule["apiGroups"]}
    assert "infrastructure.cluster.x-k8s.io" in groups
