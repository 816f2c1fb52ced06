"""Simulated machines, which kwok's provider for Karpenter makes from a list of what is for sale."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from infra.components.cluster.node_pools import karpenter, machines
from infra.components.cluster.node_pools.karpenter import NodeClass
from infra.node_labels import ZONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.settings.models.autoscaler import Kwok
    from infra.settings.models.gpu import Gpu
    from infra.settings.models.node_pools import NodePool

BOOTS_AFTER = "sandbox.flotilla.dev/boots-after"
"""Annotation of simulated nodes: how long the sandbox takes to make one ready."""

PRICES = {"spot": 0.4, "on-demand": 1.0}
"""What a CPU costs; only the order matters, since Karpenter buys the cheapest machine that will do."""


def node_class(pool: NodePool, provider: Kwok, gpu: Gpu) -> NodeClass:
    """Return the pool's KWOKNodeClass. Nodes are made at once and become ready later, as machines boot."""
    return NodeClass(
        api_version="karpenter.kwok.sh/v1alpha1",
        kind="KWOKNodeClass",
        spec={"nodeRegistrationDelay": "0s"},
        limits=karpenter.bounds(pool, gpu),
        pool_annotations={BOOTS_AFTER: provider.boot_time},
    )


def catalog(pools: Iterable[tuple[NodePool, Sequence[str]]], gpu: Gpu) -> str:
    """Return the machines for sale, as the provider reads them: each type once, in all zones of its pools.

    Args:
        pools: each pool with its zones.
        gpu: how their GPUs are offered; nothing simulates a device plugin, so machines offer parts from the start.
    """
    types: dict[str, dict[str, Any]] = {}
    for pool, zones in pools:
        found = types.setdefault(pool.instance_type, _instance_type(pool, gpu))
        known = {_zone(offering) for offering in found["offerings"]}
        found["offerings"] += [_offering(pool, zone, kind) for zone in zones if zone not in known for kind in PRICES]
    return json.dumps(list(types.values()), indent=1, sort_keys=True)


def _instance_type(pool: NodePool, gpu: Gpu) -> dict[str, Any]:
    return {
        "name": pool.instance_type,
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {**machines.resources(pool, gpu), "ephemeral-storage": _disk(pool)},
        "offerings": [],
    }


def _disk(pool: NodePool) -> str:
    return str(pool.disk.size) if pool.disk else "200Gi"


def _offering(pool: NodePool, zone: str, capacity_type: str) -> dict[str, Any]:
    return {
        "Price": round(PRICES[capacity_type] * float(pool.machine.cpu.value), 3),
        "Available": True,
        "Requirements": [
            {"key": ZONE, "operator": "In", "values": [zone]},
            {"key": karpenter.CAPACITY_TYPE, "operator": "In", "values": [capacity_type]},
        ],
    }


def _zone(offering: dict[str, Any]) -> str:
    return offering["Requirements"][0]["values"][0]
