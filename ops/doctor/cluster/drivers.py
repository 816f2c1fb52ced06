"""Whether the driver on GPU nodes is new enough, and has cut GPUs into the parts that it should."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.cluster.gpus import nodes_of
from ops.doctor.cluster.objects import labels
from ops.doctor.cluster.probe import ClusterProbe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ops.doctor.cluster.target import GpuPool

    Json = dict[str, Any]

FULL = "nvidia.com/cuda.driver-version.full"
PARTS = tuple(f"nvidia.com/cuda.driver.{part}" for part in ("major", "minor", "rev"))
"""Labels by which NVIDIA's feature discovery tells the driver, now and in former versions."""

WANTED, STATE, CAPABLE = "nvidia.com/mig.config", "nvidia.com/mig.config.state", "nvidia.com/mig.capable"
"""Labels by which NVIDIA's MIG manager tells what it cuts and how far it came, and feature discovery whether it can.

Source: https://github.com/NVIDIA/mig-parted, `deployments/container`.
"""


@check(
    "cluster-gpu-drivers",
    "cluster",
    why="Agents and images need a driver of their age: with an older one GPUs are not offered, not measured, or fail "
    "when a program starts.",
    run="Use an image of the node with a newer driver; kubectl get nodes -L " + FULL + ".",
    needs=("cluster-api",),
)
def gpu_drivers(probe: ClusterProbe) -> Verdicts:
    """NVIDIA's driver on each node of a GPU pool, against what agents, MIG and teams' images need."""
    for pool in probe.target.gpu_pools:
        if pool.driver and (nodes := nodes_of(probe, pool)):
            yield from _drivers(pool, nodes, f"{probe.subject} pool {pool.name}")


@check(
    "cluster-gpu-parts",
    "cluster",
    why="GPUs that are not cut offer none of the parts that jobs ask for, and GPUs cut half-way offer nothing.",
    run="Look at the log of NVIDIA's MIG manager on the node; kubectl get nodes -L " + f"{WANTED},{STATE}.",
    needs=("cluster-api",),
)
def gpu_parts(probe: ClusterProbe) -> Verdicts:
    """How far cutting GPUs into parts came on each node, and whether the pool's GPUs can be cut."""
    for pool in probe.target.gpu_pools:
        yield from _parts(pool, nodes_of(probe, pool), f"{probe.subject} pool {pool.name}")


def _drivers(pool: GpuPool, nodes: Sequence[Json], subject: str) -> Iterator[Verdict]:
    need = pool.driver
    if need is None:
        return
    found: defaultdict[str, list[str]] = defaultdict(list)
    for node in nodes:
        found[_driver(labels(node))].append(node["metadata"]["name"])
    silent = found.pop("", [])
    for text, names in sorted(found.items()):
        if tuple(int(part) for part in re.findall(r"\d+", text)) < need.version:
            yield fail(
                f"{len(names)} of {len(nodes)} nodes have driver {text}: with one before {need}, {need.reason}",
                run=f"Replace {', '.join(names[:3])} by nodes of an image with {need} or newer",
                subject=subject,
            )
        else:
            yield ok(f"{len(names)} of {len(nodes)} nodes have driver {text}; {need} is needed", subject=subject)
    if silent:
        yield skip(f"{len(silent)} of {len(nodes)} nodes do not tell their driver yet", subject=subject)


def _driver(marks: dict[str, str]) -> str:
    return marks.get(FULL) or ".".join(marks[key] for key in PARTS if marks.get(key))


def _parts(pool: GpuPool, nodes: Sequence[Json], subject: str) -> Iterator[Verdict]:
    states: defaultdict[str, list[Json]] = defaultdict(list)
    for node in nodes:
        states[labels(node).get(STATE, "")].append(node)
    for node in states.pop("failed", []):
        name, wanted = node["metadata"]["name"], labels(node).get(WANTED)
        yield fail(
            f"{name} could not be cut as {wanted}",
            run=f"Read the log of the MIG manager there; to try again: kubectl label node {name} {WANTED}={wanted} "
            "--overwrite; programs that hold a GPU keep it from being cut",
            subject=subject,
        )
    for state in ("pending", "rebooting"):
        if under_way := states.pop(state, []):
            yield ok(f"{len(under_way)} of {len(nodes)} nodes are being cut ({state})", subject=subject)
    whole = [node["metadata"]["name"] for node in nodes if labels(node).get(CAPABLE) == "false"]
    if pool.cut and whole:
        yield fail(
            f"the GPUs of {', '.join(whole[:3])} cannot be cut",
            run="Share them by time-slicing or mps, or choose machines with MIG",
            subject=subject,
        )
    elif pool.cut and (done := states.get("success")):
        yield ok(f"{len(done)} of {len(nodes)} nodes are cut", subject=subject)
    elif not pool.cut and (cut := states.get("success")) and any(_is_cut(node) for node in cut):
        names = ", ".join(node["metadata"]["name"] for node in cut if _is_cut(node))
        yield warn(
            f"{names} are cut into parts, and the settings share no GPUs of the pool",
            run=f"Declare it under `cluster.gpu.nvidia.sharing`, or set {WANTED}=all-disabled on the nodes",
            subject=subject,
        )


def _is_cut(node: Json) -> bool:
    return labels(node).get(WANTED, "all-disabled") != "all-disabled"
