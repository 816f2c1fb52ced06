"""A small cluster for the doctor's tests of pods that wait: pools, nodes, machines and pods as the API shows them."""

from __future__ import annotations

import datetime
from typing import Any
from unittest.mock import patch

from infra.settings.capacity.pools import Pool, pools_of
from ops.doctor import cluster as checks
from ops.doctor.check import Verdict
from ops.doctor.cluster.probe import ClusterProbe
from ops.doctor.cluster.target import Autoscaler, ClusterTarget
from ops.doctor.network import clock
from tests.unit.capacity_settings import CPU, GPU, SYSTEM, environment
from tests.unit.doctor_fakes import FakeApi

Json = dict[str, Any]

NODES = "/api/v1/nodes"
PENDING = "/api/v1/pods?fieldSelector=status.phase=Pending,spec.nodeName="
PODS = "/api/v1/namespaces/vision/pods"
EVENTS = "/api/v1/namespaces/vision/events?limit=500&fieldSelector=reason=FailedScheduling"
SOLD_OUT = "/api/v1/events?limit=500&fieldSelector=involvedObject.kind=NodeClaim,reason=InsufficientCapacityError"
POOLS, CLAIMS = "/apis/karpenter.sh/v1/nodepools", "/apis/karpenter.sh/v1/nodeclaims"
DEPLOYMENT = "/apis/apps/v1/namespaces/karpenter/deployments/karpenter"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/karpenter/leases/leader"

NOW = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
"""When the doctor looks."""

KARPENTER = Autoscaler(kind="karpenter", namespace="karpenter", name="karpenter", lease="leader")
TRAIN = "cluster c PyTorchJob vision/train"
TOLERANT = [{"key": "nvidia.com/gpu", "operator": "Exists"}]


def ago(seconds: float) -> str:
    """Return a point in time as Kubernetes writes it."""
    moment = NOW - datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def pools(*, fixed: bool = False) -> tuple[Pool, ...]:
    """Return the pools system, cpu (6 nodes of 10 CPUs at most) and gpu (4 nodes of 8 GPUs, in a and b)."""
    given: list[Json] = [{**CPU, "nodes": {"min": 6, "max": 6}}, {**GPU, "nodes": {"min": 4, "max": 4}}]
    settings = environment(SYSTEM, *given, fixed=True) if fixed else environment()
    return pools_of(settings.cluster, settings.capacity.node_reserve)


def target(*, fixed: bool = False, autoscaler: Autoscaler = KARPENTER, queues: bool = False) -> ClusterTarget:
    """Return the cluster of those pools and the team vision."""
    return ClusterTarget(
        context="c",
        environment="test",
        pools=pools(fixed=fixed),
        autoscaler=Autoscaler() if fixed else autoscaler,
        teams=("vision",),
        queues=queues,
    )


def pod(name: str, *, role: str = "worker", seconds: float = 600, said: str = "0/3 nodes", **spec: Any) -> Json:
    """Return a pod of the PyTorchJob `train` that waits for one of the eight GPUs' machines."""
    container = {"resources": {"limits": {"nvidia.com/gpu": "8"}, "requests": {"cpu": "1", "memory": "1Gi"}}}
    conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}]
    return {
        "metadata": {
            "name": name,
            "namespace": "vision",
            "creationTimestamp": ago(seconds),
            "labels": {"training.kubeflow.org/replica-type": role},
            "ownerReferences": [{"kind": "PyTorchJob", "name": "train", "controller": True}],
        },
        "spec": {"containers": [container], "tolerations": TOLERANT, **spec},
        "status": {"phase": "Pending", "conditions": conditions if said else []},
    }


def placed(item: Json, node: str) -> Json:
    """Return the pod once it runs on a node."""
    spec, status = {**item["spec"], "nodeName": node}, {**item["status"], "phase": "Running"}
    return {**item, "spec": spec, "status": status}


def asking(item: Json, **amounts: str) -> Json:
    """Return the pod asking for other amounts, and no GPUs but those given."""
    resources = {name.replace("gpu", "nvidia.com/gpu"): value for name, value in amounts.items()}
    return {**item, "spec": {**item["spec"], "containers": [{"resources": {"requests": resources}}]}}


def node(name: str, pool: str = "gpu", *, ready: bool = True, **labels: str) -> Json:
    """Return a node of a pool."""
    return {
        "metadata": {"name": name, "labels": {"flotilla.dev/pool": pool, **labels}},
        "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }


def claim(name: str, pool: str = "gpu", *, seconds: float = 5, joined: bool = False, fault: str = "") -> Json:
    """Return a machine that Karpenter asked for."""
    conditions = [
        {"type": "Launched", "status": "Unknown" if fault else "True", "reason": fault, "message": "said the cloud"},
        {"type": "Initialized", "status": "True" if joined else "Unknown"},
    ]
    return {
        "metadata": {
            "name": name,
            "labels": {"karpenter.sh/nodepool": pool},
            "creationTimestamp": ago(seconds),
        },
        "status": {"conditions": conditions},
    }


def node_pool(name: str, *, nodes: int, fault: str = "") -> Json:
    """Return Karpenter's own object for a pool."""
    ready = {"type": "Ready", "status": "False" if fault else "True", "message": fault}
    return {
        "metadata": {"name": name},
        "spec": {"limits": {"nodes": str(nodes)}},
        "status": {"conditions": [ready]},
    }


def event(name: str, message: str, *, kind: str = "Pod", who: str = "karpenter", seconds: float = 30) -> Json:
    """Return an event about a pod or a machine."""
    return {
        "metadata": {"creationTimestamp": ago(seconds)},
        "involvedObject": {"kind": kind, "namespace": "vision", "name": name},
        "lastTimestamp": ago(seconds),
        "reportingComponent": who,
        "message": message,
    }


def listed(*objects: Json) -> Json:
    """Return objects as a list."""
    return {"items": list(objects)}


def cluster(*pods: Json, **more: Json) -> FakeApi:
    """Return a cluster with these pods in the namespace vision, Karpenter at work and all pools in order.

    Args:
        pods: all pods; those without a node wait.
        more: other answers, by the name of their path here in lower case.
    """
    waiting = [each for each in pods if not each["spec"].get("nodeName")]
    objects = {
        NODES: listed(),
        PENDING: listed(*waiting),
        PODS: listed(*pods),
        EVENTS: listed(),
        SOLD_OUT: listed(),
        POOLS: listed(node_pool("cpu", nodes=6), node_pool("gpu", nodes=4)),
        CLAIMS: listed(),
        DEPLOYMENT: {"spec": {"replicas": 2}, "status": {"readyReplicas": 2}},
        LEASE: {"spec": {"holderIdentity": "k-1", "leaseDurationSeconds": 15, "renewTime": ago(2)}},
    }
    return FakeApi(objects | {globals()[name.upper()]: answer for name, answer in more.items()})


def looked(api: FakeApi, given: ClusterTarget | None = None, check: str = "cluster-pods") -> list[Verdict]:
    """Return what a check finds; what is to be mended says how."""
    [found] = [each for each in checks.CLUSTER if each.name == check]
    with patch.object(clock, "now", lambda: NOW):
        verdicts = list(found.look(ClusterProbe(given or target(), api)))
    assert all(each.run for each in verdicts if each.status in ("warn", "fail"))
    return verdicts


def told(api: FakeApi, given: ClusterTarget | None = None) -> tuple[str, str]:
    """Return the one finding's status and text."""
    [found] = looked(api, given)
    assert found.subject == TRAIN
    return found.status, found.what
