"""Whether nodes tell where they stand, where jobs are placed by it."""

from __future__ import annotations

from infra.core.names import NODE_POOL
from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip
from ops.doctor.cluster.objects import labels
from ops.doctor.cluster.probe import ClusterProbe

SHOWN = 3


@check(
    "cluster-topology",
    "cluster",
    why="Kueue overlooks a node that lacks the label of any level, and its jobs wait for machines that stand idle.",
    run="Label the nodes, or have whoever makes them do so; kubectl get nodes -L <label>.",
    needs=("cluster-api",),
)
def topology(probe: ClusterProbe) -> Verdicts:
    """Nodes of each pool with a topology, and the labels of its levels; only where `scheduling.queues` has any."""
    return [_pool(probe, pool, levels) for pool, levels in probe.target.levels.items()]


def _pool(probe: ClusterProbe, pool: str, levels: tuple[str, ...]) -> Verdict:
    subject = f"{probe.subject} pool {pool}"
    nodes = [node for node in probe.nodes if labels(node).get(NODE_POOL) == pool]
    if not nodes:
        return skip("has no node yet", subject=subject)
    silent = {
        level: lacking
        for level in levels
        if (lacking := [node["metadata"]["name"] for node in nodes if not labels(node).get(level)])
    }
    if not silent:
        return ok(f"{len(nodes)} nodes say where they stand, by {', '.join(levels)}", subject=subject)
    each = "; ".join(f"{len(lacking)} lack {level}: {', '.join(lacking[:SHOWN])}" for level, lacking in silent.items())
    first = next(iter(silent))
    return fail(
        f"of {len(nodes)} nodes, {each}",
        run=f"kubectl label node {silent[first][0]} {first}=<where it stands>; kubectl get nodes -L {','.join(silent)}",
        subject=subject,
    )
