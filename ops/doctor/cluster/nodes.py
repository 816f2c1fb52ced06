"""Whether nodes are where replicas are to be spread, and offer the GPUs that are declared."""

from __future__ import annotations

from collections import Counter
from typing import Any

from infra.core.names import NODE_POOL
from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.cluster.probe import ClusterProbe
from ops.doctor.cluster.target import GpuPool

ZONE = "topology.kubernetes.io/zone"
GPU = "nvidia.com/gpu"


@check(
    "cluster-zones",
    "cluster",
    why="Replicas are spread over zones by the nodes' labels: without them all may stand in one, and fall with it.",
    run=f"Label the nodes with {ZONE}, or correct `cluster.zones`.",
    needs=("cluster-api",),
)
def zones(probe: ClusterProbe) -> Verdicts:
    """Nodes that are ready, by zone, against the zones of the settings."""
    ready = [node for node in probe.nodes if _is_ready(node)]
    found = Counter(_labels(node).get(ZONE) for node in ready)
    for zone in probe.target.zones:
        if not found[zone]:
            known = ", ".join(sorted(name for name in found if name)) or "none"
            yield fail(
                f"no node that is ready is in zone {zone}; there are {known}",
                run=f"Add nodes there; then: kubectl get nodes -L {ZONE}",
            )
    if unlabelled := found[None]:
        yield warn(f"{unlabelled} nodes are in no zone", run=f"Label them with {ZONE}")
    if probe.target.zones and all(found[zone] for zone in probe.target.zones):
        yield ok(", ".join(f"{found[zone]} nodes in {zone}" for zone in probe.target.zones))


@check(
    "cluster-gpus",
    "cluster",
    why="A job that asks for GPUs waits for ever when no node offers them.",
    run="Install driver and device plugin on the nodes; kubectl describe node shows what they offer.",
    needs=("cluster-api",),
)
def gpus(probe: ClusterProbe) -> Verdicts:
    """Nodes of each GPU pool that has some at rest, and the GPUs they offer."""
    return [_pool(probe, pool) for pool in probe.target.gpu_pools]


def _pool(probe: ClusterProbe, pool: GpuPool) -> Verdict:
    nodes = [node for node in probe.nodes if _labels(node).get(NODE_POOL) == pool.name]
    subject = f"{probe.subject} pool {pool.name}"
    if len(nodes) < pool.nodes:
        return fail(
            f"has {len(nodes)} nodes, {pool.nodes} are declared",
            run=f"Add nodes labelled {NODE_POOL}={pool.name}, or lower `nodes.min`",
            subject=subject,
        )
    lacking = [node["metadata"]["name"] for node in nodes if _offered(node) < pool.gpus]
    if lacking and pool.plugin_comes and not any(_offered(node) for node in nodes):
        return skip("offers no GPUs yet: the device plugin comes with Flotilla", subject=subject)
    if lacking:
        return fail(
            f"{len(lacking)} of {len(nodes)} nodes offer fewer than {pool.gpus} GPUs: {', '.join(lacking[:3])}",
            run=f"Look at driver and device plugin: kubectl describe node {lacking[0]}",
            subject=subject,
        )
    return ok(f"{len(nodes)} nodes offer {pool.gpus} GPUs each", subject=subject)


def _offered(node: dict[str, Any]) -> int:
    return int(node["status"].get("allocatable", {}).get(GPU, 0))


def _labels(node: dict[str, Any]) -> dict[str, str]:
    return node["metadata"].get("labels") or {}


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node["status"].get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
