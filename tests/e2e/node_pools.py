"""A sandbox whose cpu and gpu nodes are made and removed by the real Karpenter, and what tests ask of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infra.components.cluster.node_pools import controller
from infra.core import names
from infra.settings.interruptions import SIMULATED_LOST_SECONDS
from sandbox.nodes import Node
from tests.e2e.leaders import Replicas
from tests.e2e.objects import namespace
from tests.e2e.platform import Platform

if TYPE_CHECKING:
    from sandbox.api import Json
    from sandbox.cluster import Sandbox

PROGRAM = Path(__file__).parent / "programs" / "node_pools"
ZONES = ["local-a", "local-b", "local-c"]
GPU = "nvidia.com/gpu"
CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"

A100, H100, L4 = "gpu-a100", "gpu-h100", "gpu-l4"
"""Pools of on-demand machines, of spot machines with others in reserve, and of machines whose pods may be moved."""

NOTICE_SECONDS = 30
GRACE_SECONDS = NOTICE_SECONDS - SIMULATED_LOST_SECONDS
"""How long before its end a spot machine is wanted back, and what of that its pods have."""

SYSTEM: Json = {
    "name": "system",
    "purpose": "system",
    "instanceType": "sandbox.system",
    "machine": {"cpu": 8, "memory": "32Gi"},
    "nodes": {"min": 3, "max": 3},
}
TAINT = {"key": GPU, "value": "present", "effect": "NoSchedule"}


def system_nodes() -> list[Node]:
    """Return the nodes that are there before any autoscaler."""
    machine = SYSTEM["machine"]
    return [
        Node(
            name=f"system-{index}",
            zone=zone,
            labels={names.NODE_POOL: "system", names.NODE_PURPOSE: "system"},
            capacity={"cpu": str(machine["cpu"]), "memory": machine["memory"]},
        )
        for index, zone in enumerate(ZONES)
    ]


def gpu_pool(name: str, accelerator: str, **more: Any) -> Json:
    """Return a pool of machines with eight GPUs that starts empty and is soon given back."""
    return {
        "name": name,
        "purpose": "gpu",
        "instanceType": name.replace("gpu-", "sandbox."),
        "machine": {"cpu": 96, "memory": "1152Gi", "gpus": 8, "accelerator": accelerator},
        "nodes": {"min": 0, "max": 6},
        "taints": [TAINT],
        "disruption": {"after": "5s"},
        **more,
    }


def settings() -> Json:
    """Return the settings of the tests' cluster."""
    return {
        "region": "local",
        "zones": ZONES,
        "nodePools": [
            SYSTEM,
            gpu_pool(A100, "NVIDIA-A100-SXM4-40GB"),
            gpu_pool(H100, "NVIDIA-H100-80GB-HBM3", capacityType="spot-or-on-demand"),
            gpu_pool(L4, "NVIDIA-L4", disruption={"after": "5s", "consolidate": "underutilized"}),
        ],
        "autoscaler": {
            "kind": "karpenter",
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
            "nodeRepair": True,
            "provider": {
                "cloud": "kwok",
                "bootTime": "4s",
                "interruptionNotice": f"{NOTICE_SECONDS}s",
                "repairAfter": "5s",
            },
        },
    }


def pytorch_job(name: str, *, pool: str, workers: int, seconds: int | None = None) -> Json:
    """Return a PyTorchJob of a master and workers with eight GPUs each.

    Args:
        name: its name.
        pool: the pool its pods choose.
        workers: how many workers.
        seconds: after how long its pods end with success; never when None.
    """
    container = {
        "name": "pytorch",
        "image": "docker.io/kubeflow/pytorch-dist-mnist:v1-855e096",
        "resources": {"requests": {"cpu": "32", "memory": "128Gi", GPU: "8"}, "limits": {GPU: "8"}},
    }
    template = {
        "metadata": {"annotations": {"sandbox.flotilla.dev/completes-after": f"{seconds}s"} if seconds else {}},
        "spec": {
            "nodeSelector": {names.NODE_POOL: pool},
            "tolerations": [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}],
            "containers": [container],
        },
    }
    one: Json = {"restartPolicy": "OnFailure", "template": template, "replicas": 1}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name},
        "spec": {"pytorchReplicaSpecs": {"Master": one, "Worker": {**one, "replicas": workers}}},
    }


class Pools(Platform):
    """The tests' cluster, and a namespace for jobs.

    Args:
        sandbox: a running sandbox with the system pool's nodes only.
        folder: an empty folder.
    """

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        super().__init__(sandbox, folder)
        file = folder / "settings.json"
        file.write_text(json.dumps(settings()))
        self.variables["NODE_POOLS_SETTINGS"] = str(file)
        self.run_program(PROGRAM)
        name = controller.NAME
        self.autoscaler = Replicas(
            platform=self, namespace=controller.NAMESPACE, name=name, lease=controller.LEASE, container=name
        )
        with sandbox.api() as api:
            self.namespace = namespace(api)

    def situation(self) -> str:
        """Return what helps to understand a failure: also nodes, claims, and what Karpenter last said."""
        parts = [super().situation(), self.kubectl("get", "nodes,nodeclaims,nodepools", "-o", "wide").stdout]
        return "\n".join([*parts, *self.autoscaler.said()])

    def start(self, job: Json) -> Json:
        """Submit a job in the tests' namespace, once every webhook takes it."""
        job["metadata"]["namespace"] = self.namespace
        return super().start(job)

    def nodes(self, pool: str) -> dict[str, Json]:
        """Return a pool's nodes by name."""
        found = self.get(f"/api/v1/nodes?labelSelector={names.NODE_POOL}={pool}")["items"]
        return {node["metadata"]["name"]: node for node in found}

    def claims(self, pool: str) -> dict[str, Json]:
        """Return a pool's NodeClaims by name."""
        found = self.get(f"{CLAIMS}?labelSelector=karpenter.sh/nodepool={pool}")["items"]
        return {claim["metadata"]["name"]: claim for claim in found}

    def now(self) -> str:
        """Return the cluster's present, as a version that `ever` counts from."""
        version: str = self.get(CLAIMS)["metadata"]["resourceVersion"]
        return version

    def ever(self, pool: str, since: str) -> tuple[set[str], set[str]]:
        """Return the names of all claims and all nodes that a pool has had since, also of those that are gone."""
        choices = {CLAIMS: f"karpenter.sh/nodepool={pool}", "/api/v1/nodes": f"{names.NODE_POOL}={pool}"}
        claims, nodes = (self._added(path, label, since) for path, label in choices.items())
        return claims, nodes

    def _added(self, path: str, label: str, since: str) -> set[str]:
        watch = f"{path}?labelSelector={label}&watch=true&resourceVersion={since}&timeoutSeconds=1"
        events: list[Json] = [json.loads(line) for line in self.kubectl("get", "--raw", watch).stdout.splitlines()]
        return {event["object"]["metadata"]["name"] for event in events if event["type"] == "ADDED"}

    def labels(self, pool: str, key: str) -> list[str]:
        """Return the values of a label on a pool's nodes, sorted."""
        return sorted(node["metadata"]["labels"][key] for node in self.nodes(pool).values())

    def is_empty(self, pool: str) -> bool:
        """Return whether a pool has neither nodes nor claims."""
        return not self.nodes(pool) and not self.claims(pool)

    def condition(self, job: Json, kind: str) -> bool:
        """Return whether a job has a condition."""
        path = f"/apis/kubeflow.org/v1/namespaces/{self.namespace}/pytorchjobs/{job['metadata']['name']}"
        conditions: list[Json] = self.get(path).get("status", {}).get("conditions", [])
        return any(each["type"] == kind and each["status"] == "True" for each in conditions)

    def lose(self, node: str) -> None:
        """Let a machine vanish from one moment to the next, its Node object with it."""
        self.kubectl("patch", "node", node, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        done = self.kubectl("delete", "node", node)
        assert done.returncode == 0, done.stderr

    def events(self, pod: str) -> str:
        """Return what the cluster says of a pod."""
        path = f"/api/v1/namespaces/{self.namespace}/events?fieldSelector=involvedObject.name={pod}"
        return "\n".join(event["message"] for event in self.get(path)["items"])

    def is_whole(self, pool: str) -> bool:
        """Return whether each claim of a pool has one node and each node a claim."""
        claims, nodes = self.claims(pool), self.nodes(pool)
        named = sorted(claim["status"].get("nodeName", "") for claim in claims.values())
        return named == sorted(nodes)

    def run_out_of(self, *shortages: Json) -> None:
        """Let the machines of these types, zones and ways of buying be sold out; none at all ends every shortage."""
        self._tell_market(controller.SHORTAGES, "shortages.json", shortages)

    def interrupt(self, *nodes: str) -> None:
        """Let the market want these spot machines back, from now on."""
        self._tell_market(controller.INTERRUPTIONS, "interruptions.json", tuple({"node": node} for node in nodes))

    def _tell_market(self, config_map: str, file: str, content: tuple[Json, ...]) -> None:
        manifest = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": config_map, "namespace": controller.NAMESPACE},
            "data": {file: json.dumps(content)},
        }
        done = self.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(manifest))
        assert done.returncode == 0, done.stderr
        self.eventually(
            lambda: all(self._knows(pod, file, content) for pod in self.autoscaler.pods()), f"the arrival of {file}"
        )

    def _knows(self, pod: str, name: str, content: tuple[Json, ...]) -> bool:
        files = self.autoscaler.folder(pod).rglob(name)
        return any(json.loads(file.read_text()) == list(content) for file in files)
