"""What is declared so that pods on a machine that goes are told in time, and broken machines are replaced."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from infra.components.cluster.gpu.health import GpuHealth, GpuHealthArgs, monitor
from infra.settings.models.gpu_health import NodeProblemDetector
from infra.settings.models.node_pools import NodePool
from tests.unit.components.test_node_pools import AWS, CPU, GPU, TAINT, declared, karpenter, spec
from tests.unit.components.test_node_pools_elsewhere import CLUSTER_API, GKE, OWNED
from tests.unit.core.parsing import parse
from tests.unit.core.recording import Recording, record

RESOURCES = {"requests": {"cpu": "10m", "memory": "80Mi"}, "limits": {"memory": "80Mi"}}
DETECTOR = {"kind": "node-problem-detector", "installed": "install", "resources": RESOURCES}
ON_DEMAND = {**GPU, "capacityType": "on-demand"}


def pool_of(provider: dict[str, Any], pool: dict[str, Any], **disruption: Any) -> dict[str, Any]:
    return declared({**pool, "disruption": disruption}, autoscaler=karpenter(**provider)).one("NodePool")["spec"]


@pytest.mark.parametrize(
    ("provider", "pool", "set_to", "expected"),
    [
        (AWS, GPU, None, "90s"),
        (AWS, {**GPU, "capacityType": "spot-or-on-demand"}, None, "90s"),
        (AWS, GPU, "45s", "45s"),
        (AWS, ON_DEMAND, None, None),
        (AWS, ON_DEMAND, "2h", "2h"),
        ({"cloud": "kwok", "interruptionNotice": "1m"}, GPU, None, "55s"),
        ({"cloud": "azure"}, GPU, None, None),
    ],
)
def test_pods_of_a_spot_machine_are_ended_within_its_notice(
    provider: dict[str, Any], pool: dict[str, Any], set_to: str | None, expected: str | None
) -> None:
    disruption = {"gracePeriod": set_to} if set_to else {}

    assert pool_of(provider, pool, **disruption)["template"]["spec"].get("terminationGracePeriod") == expected


def test_used_gpu_machines_whose_pods_could_be_ended_are_not_replaced_for_their_image() -> None:
    held = [
        {"nodes": "100%", "reasons": ["Empty"]},
        {"nodes": "1", "reasons": ["Underutilized"]},
        {"nodes": "0", "reasons": ["Drifted"]},
    ]

    assert spec(GPU)["disruption"]["budgets"] == held
    assert spec(ON_DEMAND, disruption={"gracePeriod": "1h"})["disruption"]["budgets"] == held
    assert spec({**CPU, "capacityType": "spot"})["disruption"]["budgets"][1]["reasons"] == ["Underutilized", "Drifted"]


@pytest.mark.parametrize(
    ("grace", "whole", "critical"), [("10s", 30, 20), ("15s", 30, 15), ("16s", 120, 104), ("105s", 120, 15)]
)
def test_google_divides_the_notice_between_pods_and_its_own(grace: str, whole: int, critical: int) -> None:
    pool = {**GPU, "capacityType": "spot-or-on-demand", "disruption": {"gracePeriod": grace}}
    spot, other = declared(pool, autoscaler=GKE).one("ComputeClass")["spec"]["priorities"]

    assert spot["nodeSystemConfig"]["kubeletConfig"] == {
        "shutdownGracePeriodSeconds": whole,
        "shutdownGracePeriodCriticalPodsSeconds": critical,
    }
    assert "nodeSystemConfig" not in other


def test_machines_of_cluster_api_wait_for_pods_as_long_as_set() -> None:
    pool = {**OWNED, "disruption": {"gracePeriod": "10m"}}
    machine = declared(pool, autoscaler=CLUSTER_API).all("MachineDeployment")[0]["spec"]["template"]["spec"]

    assert machine["deletion"] == {"nodeDrainTimeoutSeconds": 600}


def test_karpenter_repairs_where_it_is_set() -> None:
    def gates(**changes: Any) -> str:
        deployment = declared(CPU, autoscaler={**karpenter(), **changes}).one("Deployment")
        environment = deployment["spec"]["template"]["spec"]["containers"][0]["env"]
        return next(each["value"] for each in environment if each["name"] == "FEATURE_GATES")

    assert gates(nodeRepair=True) == "NodeRepair=true"
    assert gates() == "NodeRepair=false"


def test_simulated_market_knows_when_machines_are_wanted_back_and_repaired() -> None:
    provider = {"cloud": "kwok", "interruptionNotice": "40s", "repairAfter": "5s"}
    pod = declared(GPU, autoscaler=karpenter(**provider)).one("Deployment")["spec"]["template"]["spec"]
    environment = {each["name"]: each.get("value") for each in pod["containers"][0]["env"]}
    (volume,) = [each for each in pod["volumes"] if each["name"] == "interruptions"]

    assert (environment["INTERRUPTION_NOTICE"], environment["REPAIR_AFTER"]) == ("40s", "5s")
    assert environment["INTERRUPTIONS_FILE_PATH"] == "/var/lib/karpenter/interruptions/interruptions.json"
    assert volume["configMap"] == {"name": "karpenter-interruptions", "optional": True}


def check(pool: dict[str, Any], health: dict[str, Any] | None = None) -> dict[str, Any]:
    autoscaler = {**CLUSTER_API, "repairAfter": "10m"}
    nvidia = {"health": health} if health else {}
    return declared(pool, autoscaler=autoscaler, nvidia=nvidia).one("MachineHealthCheck")


def test_machines_of_cluster_api_are_replaced_when_their_node_stays_unhealthy() -> None:
    found = check(OWNED)

    assert found["metadata"]["namespace"] == "machines"
    assert found["spec"]["clusterName"] == "fleet"
    assert found["spec"]["selector"] == {"matchLabels": {"flotilla.dev/pool": "gpu"}}
    assert found["spec"]["checks"]["unhealthyNodeConditions"] == [
        {"type": "Ready", "status": "False", "timeoutSeconds": 600},
        {"type": "Ready", "status": "Unknown", "timeoutSeconds": 600},
    ]


def test_machines_of_cluster_api_are_replaced_for_a_broken_gpu_that_is_reported() -> None:
    conditions = check(OWNED, DETECTOR)["spec"]["checks"]["unhealthyNodeConditions"]
    others = check({**CPU, "nodes": {"min": 1, "max": 2}}, DETECTOR)["spec"]["checks"]["unhealthyNodeConditions"]

    assert conditions[-1] == {"type": "GpuProblem", "status": "True", "timeoutSeconds": 600}
    assert {each["type"] for each in others} == {"Ready"}


@pytest.mark.parametrize(("largest", "at_once"), [(1, 1), (5, 1), (6, 2), (40, 8)])
def test_machines_of_cluster_api_are_not_replaced_when_many_are_unhealthy(largest: int, at_once: int) -> None:
    pool = {**OWNED, "nodes": {"min": 0, "max": largest}}

    assert check(pool)["spec"]["remediation"] == {"triggerIf": {"unhealthyLessThanOrEqualTo": at_once}}


def test_nothing_is_replaced_unless_it_is_set() -> None:
    assert "MachineHealthCheck" not in declared(OWNED, autoscaler=CLUSTER_API).kinds()


def detector(**changes: Any) -> Recording:
    args = GpuHealthArgs(
        settings=parse(NodeProblemDetector, **{**DETECTOR, **changes}),
        pools=[parse(NodePool, **GPU), parse(NodePool, **{**CPU, "name": "other"})],
        namespace="nvidia",
    )
    return record(lambda: GpuHealth("gpu-health", args))


def test_detector_runs_on_nvidias_nodes_and_may_change_only_their_conditions() -> None:
    recording = detector()
    pod = recording.one("DaemonSet")["spec"]["template"]["spec"]
    rules = recording.one("ClusterRole")["rules"]

    assert {"key": TAINT["key"], "operator": "Exists", "effect": "NoSchedule"} in pod["tolerations"]
    terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]} in [
        each for term in terms for each in term["matchExpressions"]
    ]
    assert {(resource, verb) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]} == {
        ("nodes", "get"),
        ("nodes/status", "patch"),
        ("events", "create"),
        ("events", "patch"),
        ("events", "update"),
    }


def test_detector_reads_the_file_that_is_declared() -> None:
    recording = detector(condition="GpuBroken")
    container = recording.one("DaemonSet")["spec"]["template"]["spec"]["containers"][0]
    (mount,) = container["volumeMounts"]
    (name, content) = next(iter(recording.one("ConfigMap")["data"].items()))

    assert f"--config.system-log-monitor={mount['mountPath']}/{name}" in container["args"]
    assert json.loads(content) == monitor("GpuBroken")
    assert container["securityContext"]["privileged"] is True
    assert container["securityContext"]["capabilities"]["add"] == ["SYSLOG"]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("NVRM: Xid (PCI:0000:2b:00): 79, GPU has fallen off the bus.", "GpuFellOffTheBus"),
        ("NVRM: Xid (PCI:0000:10:1c): 79, pid=1896, name=python, GPU has fallen off the bus.", "GpuFellOffTheBus"),
        ("NVRM: Xid (PCI:0000:3b:00): 48, pid=77, DBE (double bit error) ECC Error", "GpuMemoryFailed"),
        ("NVRM: Xid (PCI:0002:00:00): 119, pid=1582259, name=nvc:[driver], Timeout waiting", "GpuFirmwareFailed"),
        ("NVRM: Xid (PCI:0000:b7:00): 74, pid=9, NVLink: fatal error detected on link 6", "NvLinkFailed"),
        ("NVRM: Xid (PCI:0000:01:00): 31, pid=4, MMU Fault", None),
        ("NVRM: Xid (PCI:0000:01:00): 13, Graphics SM Warp Exception", None),
        ("NVRM: Xid (PCI:0000:01:00): 790, unknown", None),
        ("python: read 'Xid (PCI:0000:01:00): 79,' from a file", None),
    ],
)
def test_messages_after_which_a_gpu_needs_a_reset_are_told_from_others(message: str, reason: str | None) -> None:
    rules: list[dict[str, str]] = monitor("GpuProblem")["rules"]
    found = [rule["reason"] for rule in rules if re.search(rf"{rule['pattern']}\Z", message)]

    assert found == ([reason] if reason else [])
