"""What runs on every node of a kind: rolled one by one, outranking what it serves, ended with its node."""

from __future__ import annotations

from typing import Any

import pulumi_kubernetes as k8s

from infra.core.node_agent import NodeAgent, NodeAgentArgs
from infra.core.parts import Permissions, Privileges, Rule
from tests.unit.core.examples import NAME, NAMESPACE, container, resources
from tests.unit.core.recording import Recording, record


def agent(**arguments: Any) -> Recording:
    args: dict[str, Any] = {
        "namespace": NAMESPACE,
        "part_of": "fleet",
        "container": container(),
        "resources": resources(),
        **arguments,
    }
    return record(lambda: NodeAgent(NAME, NodeAgentArgs(**args)))


def daemon_set(**arguments: Any) -> dict[str, Any]:
    return agent(**arguments).one("DaemonSet")


def test_agent_needs_no_budget_and_no_service() -> None:
    assert agent().kinds() == ["DaemonSet", "NetworkPolicy", "ServiceAccount"]


def test_agent_is_rolled_one_node_at_a_time() -> None:
    assert daemon_set()["spec"]["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}


def test_agent_outranks_what_it_serves_and_runs_on_every_node() -> None:
    spec = daemon_set()["spec"]["template"]["spec"]

    assert spec["priorityClassName"] == "system-node-critical"
    assert spec["affinity"] == {}
    assert "topologySpreadConstraints" not in spec


def test_agent_is_restricted_and_states_no_reason_by_default() -> None:
    manifest = daemon_set()

    assert "annotations" not in manifest["metadata"]
    assert manifest["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"] is True


def test_agent_states_its_reasons() -> None:
    manifest = daemon_set(
        container=container(probes=None),
        privileges=Privileges(reason="It opens the kubelet's socket.", run_as_root=True),
        no_probes_reason="It serves nobody.",
    )

    assert manifest["metadata"]["annotations"] == {
        "flotilla.dev/privileged-reason": "It opens the kubelet's socket.",
        "flotilla.dev/no-probes-reason": "It serves nobody.",
    }


def test_agent_runs_where_it_is_told() -> None:
    term = k8s.core.v1.NodeSelectorTermArgs(
        match_expressions=[k8s.core.v1.NodeSelectorRequirementArgs(key="gpu", operator="Exists")]
    )
    required = k8s.core.v1.NodeAffinityArgs(
        required_during_scheduling_ignored_during_execution=k8s.core.v1.NodeSelectorArgs(node_selector_terms=[term])
    )
    spec = daemon_set(
        affinity=k8s.core.v1.AffinityArgs(node_affinity=required),
        tolerations=[k8s.core.v1.TolerationArgs(key="gpu", operator="Exists")],
        runtime_class="nvidia",
    )["spec"]["template"]["spec"]

    assert "requiredDuringSchedulingIgnoredDuringExecution" in spec["affinity"]["nodeAffinity"]
    assert spec["tolerations"] == [{"key": "gpu", "operator": "Exists"}]
    assert spec["runtimeClassName"] == "nvidia"


def test_agent_starts_once_its_permissions_are_there() -> None:
    recording = agent(permissions=Permissions(cluster=[Rule(groups=("",), resources=("nodes",), verbs=("get",))]))

    assert recording.resource("ClusterRoleBinding").urn in recording.resource("DaemonSet").after
    assert recording.one("DaemonSet")["spec"]["template"]["spec"]["automountServiceAccountToken"] is True
