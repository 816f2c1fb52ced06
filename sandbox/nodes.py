"""The sandbox's machines: what they have, where they stand, and how the API server learns of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from infra.core.names import NODE_POOL, NODE_PURPOSE
from infra.node_labels import HOST, ZONE
from infra.settings.devices import devices_of, of_vendor
from infra.settings.quantity import Quantity
from sandbox import network, topology

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.settings import Settings
    from sandbox.api import ApiClient, Json

MANAGED = "flotilla.dev/sandbox-node"
"""Label of the nodes that `up` brings in line; nodes that others made (an autoscaler) stay untouched."""
APPLIED = "flotilla.dev/sandbox-applied"
"""Annotation with what `up` last set, so that it can take back what is no longer wanted."""

_KWOK = {"kwok.x-k8s.io/node": "fake"}


@dataclass(frozen=True, kw_only=True)
class Taint:
    """A reason for pods to stay away from a node unless they tolerate it."""

    key: str
    effect: str
    value: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the API's form."""
        return {"key": self.key, "effect": self.effect} | ({"value": self.value} if self.value else {})


@dataclass(frozen=True, kw_only=True)
class Node:
    """One machine.

    Args:
        name: its name, unique in the sandbox.
        zone: the zone it stands in.
        labels: further labels, as a cloud and its operators would set them.
        taints: what keeps pods away.
        capacity: quantities by resource name, as in `{"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "8"}`.

    """

    name: str
    zone: str
    labels: dict[str, str] = field(default_factory=dict[str, str])
    taints: tuple[Taint, ...] = ()
    capacity: dict[str, str] = field(default_factory=dict[str, str])

    def all_labels(self) -> dict[str, str]:
        """Return every label of the node, with those each kubelet sets."""
        return {
            HOST: self.name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            ZONE: self.zone,
            MANAGED: "true",
            **self.labels,
        }

    def applied(self) -> str:
        """Return what `up` sets on this node, in a form that can be compared."""
        wanted = {"labels": sorted(self.all_labels()), "taints": [taint.to_json() for taint in self.taints]}
        return json.dumps(wanted, sort_keys=True)

    def manifest(self, address: str, version: str) -> Json:
        """Return the Node object as a kubelet of that version would register it."""
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": self.name,
                "labels": self.all_labels(),
                "annotations": {**_KWOK, APPLIED: self.applied()},
            },
            "spec": {"taints": [taint.to_json() for taint in self.taints]},
            "status": {
                "capacity": self.resources(),
                "allocatable": self.resources(),
                "addresses": [
                    {"type": "InternalIP", "address": address},
                    {"type": "Hostname", "address": self.name},
                ],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": network.KUBELET_PORT}},
                "nodeInfo": {**_NODE_INFO, "kubeletVersion": version},
            },
        }

    def resources(self) -> dict[str, str]:
        """Return the capacity, with the number of pods a kubelet allows."""
        return {"pods": "110", "ephemeral-storage": "200Gi", **self.capacity}


_NODE_INFO = {
    "architecture": "amd64",
    "operatingSystem": "linux",
    "osImage": "Flotilla sandbox",
    "kernelVersion": "simulated",
    "kubeProxyVersion": "",
    "containerRuntimeVersion": "flotilla://sandbox",
    "machineID": "",
    "systemUUID": "",
    "bootID": "",
}


@dataclass(frozen=True, kw_only=True)
class NodeChanges:
    """The names of nodes that were created, changed and deleted."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


def reconcile(api: ApiClient, nodes: Sequence[Node]) -> NodeChanges:
    """Bring the cluster's nodes in line with the wanted ones.

    Nodes that lack our label, as an autoscaler makes them, are left alone.
    """
    present: dict[str, Json] = {item["metadata"]["name"]: item for item in api.get("/api/v1/nodes")["items"]}
    wanted = {node.name: node for node in nodes}
    version: str = api.get("/version")["gitVersion"]
    addresses = network.free_node_addresses(_addresses(present.values()))
    created: list[str] = []
    changed: list[str] = []
    for name, node in wanted.items():
        if name not in present:
            api.create("/api/v1/nodes", node.manifest(next(addresses), version))
            created.append(name)
        elif _bring_in_line(api, node, present[name]):
            changed.append(name)
    surplus = [
        name for name, item in present.items() if name not in wanted and MANAGED in item["metadata"].get("labels", {})
    ]
    for name in surplus:
        api.delete(f"/api/v1/nodes/{name}")
    return NodeChanges(created=tuple(created), changed=tuple(changed), deleted=tuple(surplus))


def ready(api: ApiClient, nodes: Sequence[Node]) -> bool:
    """Return whether each of these nodes takes pods, and pods could be created at all."""
    items = api.get("/api/v1/nodes")["items"]
    taking = {item["metadata"]["name"] for item in items if _takes_pods(item)}
    service_account = api.find("/api/v1/namespaces/default/serviceaccounts/default")
    return service_account is not None and all(node.name in taking for node in nodes)


def _takes_pods(item: Json) -> bool:
    conditions: list[dict[str, str]] = item["status"].get("conditions", [])
    is_ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return is_ready and not any(
        taint["key"].startswith("node.kubernetes.io/not-ready") for taint in item["spec"].get("taints", [])
    )


def _bring_in_line(api: ApiClient, node: Node, present: Json) -> bool:
    metadata: dict[str, Any] = present["metadata"]
    before: Json = json.loads(metadata.get("annotations", {}).get(APPLIED, "{}"))
    labels: dict[str, str] = metadata.get("labels", {})
    label_patch: dict[str, str | None] = {
        key: value for key, value in node.all_labels().items() if labels.get(key) != value
    }
    surplus = set(before.get("labels", [])) - set(node.all_labels())
    label_patch |= dict.fromkeys(sorted(surplus & set(labels)))
    taints = _merged_taints(node, present["spec"].get("taints", []), before.get("taints", []))
    patch: Json = {}
    if label_patch or metadata.get("annotations", {}).get(APPLIED) != node.applied():
        patch["metadata"] = {"labels": label_patch, "annotations": {**_KWOK, APPLIED: node.applied()}}
    if taints is not None:
        patch["spec"] = {"taints": taints}
    if patch:
        api.patch(f"/api/v1/nodes/{node.name}", patch)
    resources = _resource_patch(node.resources(), present["status"].get("capacity", {}))
    if resources:
        status = {"status": {"capacity": resources, "allocatable": resources}}
        api.patch(f"/api/v1/nodes/{node.name}/status", status)
    return bool(patch or resources)


def _merged_taints(
    node: Node, present: list[dict[str, str]], before: list[dict[str, str]]
) -> list[dict[str, str]] | None:
    """Return the taints to set, keeping those the cluster's controllers added; None when all is well."""
    wanted = [taint.to_json() for taint in node.taints]
    present_or_wanted = [taint for taint in present if taint not in before or taint in wanted]
    merged = present_or_wanted + [taint for taint in wanted if taint not in present_or_wanted]
    return None if merged == present else merged


def _resource_patch(wanted: dict[str, str], present: dict[str, str]) -> dict[str, str | None]:
    patch: dict[str, str | None] = {
        name: value
        for name, value in wanted.items()
        if name not in present or Quantity.parse(present[name]) != Quantity.parse(value)
    }
    return patch | {name: None for name in present if name not in wanted}


def _addresses(items: Any) -> list[str]:
    return [entry["address"] for item in items for entry in item.get("status", {}).get("addresses", [])]


def from_settings(settings: Settings) -> list[Node]:
    """Return the machines an environment starts with: each pool's minimum, spread evenly over its zones."""
    cluster = settings.cluster
    nodes: list[Node] = []
    for pool in cluster.node_pools:
        zones = list(pool.zones or cluster.zones)
        labels = {
            NODE_POOL: pool.name,
            NODE_PURPOSE: pool.purpose,
            "topology.kubernetes.io/region": cluster.region,
            "node.kubernetes.io/instance-type": pool.instance_type,
            **pool.labels,
        }
        capacity = {"cpu": str(pool.machine.cpu), "memory": str(pool.machine.memory)}
        if pool.machine.gpus:
            capacity |= {name: str(count) for name, count in devices_of(pool, cluster.gpu).items()}
        if of_vendor((pool,), "nvidia"):
            labels["nvidia.com/gpu.present"] = "true"
            labels["nvidia.com/gpu.count"] = str(pool.machine.gpus)
            if pool.machine.accelerator:
                labels["nvidia.com/gpu.product"] = pool.machine.accelerator
        taints = tuple(Taint(key=each.key, value=each.value or "", effect=each.effect) for each in pool.taints)
        nodes += [
            Node(
                name=f"{pool.name}-{index}",
                zone=zones[index % len(zones)],
                labels=labels | topology.labels(settings, pool, zones[index % len(zones)], index // len(zones)),
                taints=taints,
                capacity=capacity,
            )
            for index in range(pool.nodes.min)
        ]
    return nodes
