from __future__ import annotations

from collections import Counter

from infra.settings import load
from sandbox import nodes, users
from sandbox.nodes import Node, Taint


def test_environment_local_has_its_pools_spread_over_three_zones() -> None:
    made = nodes.from_settings(load("local"))
    assert len({node.name for node in made}) == len(made)
    gpu = [node for node in made if "nvidia.com/gpu" in node.capacity]
    assert {node.capacity["nvidia.com/gpu"] for node in gpu} == {"8"}
    assert len({node.zone for node in gpu}) == 3
    assert all(node.taints for node in gpu)
    assert {node.labels["flotilla.dev/purpose"] for node in gpu} == {"gpu"}


def test_no_zone_of_a_pool_has_two_nodes_more_than_another() -> None:
    pools: dict[str, Counter[str]] = {}
    for node in nodes.from_settings(load("local")):
        pools.setdefault(node.labels["flotilla.dev/pool"], Counter())[node.zone] += 1
    for zones in pools.values():
        assert max(zones.values()) - min(zones.values()) <= 1


def test_node_is_registered_as_a_kubelet_would() -> None:
    node = Node(
        name="a",
        zone="z",
        labels={"custom": "1"},
        taints=(Taint(key="k", effect="NoSchedule", value="v"),),
        capacity={"cpu": "4"},
    ).manifest("10.128.0.9", "v1.36.0")
    assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "z"
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "a"
    assert node["spec"]["taints"] == [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.0"
    assert node["status"]["capacity"] == node["status"]["allocatable"]
    assert node["status"]["addresses"][0] == {"type": "InternalIP", "address": "10.128.0.9"}
    assert node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] == 10250


def test_everybody_of_every_team_is_a_user_once() -> None:
    names = [user.name for user in users.from_settings(load("local"))]
    assert "vera@example.com" in names
    assert len(names) == len(set(names))
