"""Whether nodes offer the accelerators that the settings say their pool has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra.core.names import NODE_POOL
from infra.settings.capacity.show import amount
from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.cluster.objects import age, ends, find, items, labels
from ops.doctor.cluster.probe import ClusterProbe
from ops.doctor.network import clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ops.doctor.cluster.target import GpuPool, Plugin

    Json = dict[str, Any]

PRODUCT = "nvidia.com/gpu.product"
STARTING_SECONDS = 600
"""How long drivers and agents of a new node may take until it offers anything."""


@check(
    "cluster-gpus",
    "cluster",
    why="A job that asks for GPUs waits for ever when no node offers them.",
    run="Install driver and device plugin on the nodes; kubectl describe node shows what they offer.",
    needs=("cluster-api",),
    waits=3,
)
def gpus(probe: ClusterProbe) -> Verdicts:
    """Nodes of each pool with accelerators: their number, and what each offers by name, number and product.

    Where it is less than declared, also what became of the device plugin.
    """
    for pool in probe.target.gpu_pools:
        nodes = nodes_of(probe, pool)
        subject = f"{probe.subject} pool {pool.name}"
        if len(nodes) < pool.nodes:
            yield fail(
                f"has {len(nodes)} nodes, {pool.nodes} are declared",
                run=f"Add nodes labelled {NODE_POOL}={pool.name}, or lower `nodes.min`",
                subject=subject,
            )
        elif not nodes:
            yield skip("has no nodes at the moment", subject=subject)
        else:
            yield from _devices(probe, pool, nodes, subject)
            yield from _products(pool, nodes, subject)


def nodes_of(probe: ClusterProbe, pool: GpuPool) -> list[Json]:
    """Return a pool's nodes, but for those that are leaving."""
    return [node for node in probe.nodes if labels(node).get(NODE_POOL) == pool.name and not ends(node)]


def _devices(probe: ClusterProbe, pool: GpuPool, nodes: Sequence[Json], subject: str) -> Iterator[Verdict]:
    """Yield what is missing on nodes, what is too much, or that all is well."""
    moment, declared = clock.now(), _listed(pool.devices)
    short = [node for node in nodes if any(_offers(node, name) < count for name, count in pool.devices.items())]
    late = [node for node in short if age(node, moment) > STARTING_SECONDS or _anything(node, pool)]
    if starting := len(short) - len(late):
        word = "node is" if starting == 1 else "nodes are"
        yield ok(
            f"{starting} new {word} starting and {'offers' if starting == 1 else 'offer'} nothing yet", subject=subject
        )
    if late:
        yield _missing(probe, pool, late, nodes, subject)
    rich = [node for node in nodes if any(_offers(node, name) > count for name, count in pool.devices.items())]
    if rich:
        yield warn(
            f"{_count(rich, nodes)} offer more than {declared}: {_shown(rich[0], pool)}",
            why="Parts pass for whole GPUs, and quotas and capacity count something else than there is.",
            run="Correct `machine.gpus` or `cluster.gpu.nvidia.sharing`, or the device plugin's configuration",
            subject=subject,
        )
    if not short and not rich:
        yield ok(f"{len(nodes)} node{'s' * (len(nodes) > 1)} with {declared} each", subject=subject)


def _missing(probe: ClusterProbe, pool: GpuPool, late: Sequence[Json], nodes: Sequence[Json], subject: str) -> Verdict:
    """Say what keeps nodes from offering what they should."""
    first = late[0]["metadata"]["name"]
    what = f"{_count(late, nodes)} offer less than {_listed(pool.devices)}: {_shown(late[0], pool)}"
    if pool.plugin is None:
        return fail(what, run=f"Look at driver and device plugin: kubectl describe node {first}", subject=subject)
    daemon = find(probe.api, f"/apis/apps/v1/namespaces/{pool.plugin.namespace}/daemonsets/{pool.plugin.name}")
    if daemon is None and not any(_anything(node, pool) for node in nodes):
        return skip("offers nothing yet: the device plugin comes with Flotilla", subject=subject)
    reason, run = _of_plugin(probe, pool.plugin, late[0])
    return fail(f"{what}; {reason}", run=run, subject=subject)


def _of_plugin(probe: ClusterProbe, plugin: Plugin, node: Json) -> tuple[str, str]:
    """Return what became of the device plugin on a node, and what to run."""
    name, chosen = node["metadata"]["name"], f"labelSelector=app.kubernetes.io/name={plugin.name}"
    place = f"{plugin.namespace}/{plugin.name}"
    pods = items(probe.api, f"/api/v1/namespaces/{plugin.namespace}/pods?{chosen}&fieldSelector=spec.nodeName={name}")
    if not pods:
        return (
            f"no pod of {place} runs there",
            f"kubectl -n {plugin.namespace} describe daemonset {plugin.name}: a taint that is not in the settings "
            "keeps it off, or the settings are not applied",
        )
    statuses: list[Json] = pods[0].get("status", {}).get("containerStatuses") or []
    logs = f"kubectl -n {plugin.namespace} logs {pods[0]['metadata']['name']}"
    stuck = next(
        (each["state"]["waiting"].get("reason") for each in statuses if "waiting" in each.get("state", {})), ""
    )
    if stuck or not all(each.get("ready") for each in statuses):
        return f"{place} does not run there ({stuck or 'not ready'})", logs
    return f"{place} runs there and finds no more", f"{logs}; on the node: nvidia-smi, dmesg | grep -i -e xid -e nvrm"


def _products(pool: GpuPool, nodes: Sequence[Json], subject: str) -> Iterator[Verdict]:
    """Yield products that are not the declared one; sharing adds to their names."""
    found = {labels(node).get(PRODUCT) for node in nodes} - {None}
    others = sorted(name for name in found if name and pool.product and not name.startswith(pool.product))
    if others:
        yield fail(
            f"has {', '.join(others)}, and {pool.product} is declared",
            why="Jobs that choose GPUs by product find none, or make the pool grow for nothing.",
            run=f"Write `accelerator: {others[0]}` in the pool's `machine`, or change its `instanceType`",
            subject=subject,
        )


def _offers(node: Json, resource: str) -> int:
    return int(node["status"].get("allocatable", {}).get(resource, 0))


def _anything(node: Json, pool: GpuPool) -> bool:
    return bool(_found(node, pool))


def _found(node: Json, pool: GpuPool) -> dict[str, int]:
    """Return all that a node offers of the vendors that its pool has."""
    vendors = tuple({f"{name.partition('/')[0]}/" for name in pool.devices})
    allocatable: dict[str, str] = node["status"].get("allocatable", {})
    return {name: int(count) for name, count in allocatable.items() if name.startswith(vendors) and int(count)}


def _shown(node: Json, pool: GpuPool) -> str:
    return f"{node['metadata']['name']} has {_listed(_found(node, pool)) or 'none'}"


def _listed(devices: Mapping[str, int]) -> str:
    return ", ".join(amount(name, count) for name, count in sorted(devices.items()))


def _count(some: Sequence[Json], nodes: Sequence[Json]) -> str:
    return f"{len(some)} of {len(nodes)} nodes"
