"""Whether nodes are where replicas are to be spread."""

from __future__ import annotations

from collections import Counter

from infra.node_labels import ZONE
from ops.doctor.check import Verdicts, check, fail, ok, warn
from ops.doctor.cluster.objects import holds, labels
from ops.doctor.cluster.probe import ClusterProbe


@check(
    "cluster-zones",
    "cluster",
    why="Replicas are spread over zones by the nodes' labels: without them all may stand in one, and fall with it.",
    run=f"Label the nodes with {ZONE}, or correct `cluster.zones`.",
    needs=("cluster-api",),
)
def zones(probe: ClusterProbe) -> Verdicts:
    """Nodes that are ready, by zone, against the zones of the settings."""
    ready = [node for node in probe.nodes if holds(node, "Ready")]
    found = Counter(labels(node).get(ZONE) for node in ready)
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
