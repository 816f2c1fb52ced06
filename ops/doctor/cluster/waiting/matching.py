"""Which of the settings' pools could take a pod, and what keeps it from the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from infra.core import names
from infra.node_labels import ZONE
from infra.settings.capacity.placement import KNOWN, refusal
from infra.settings.capacity.pools import Amounts
from ops.doctor.cluster.objects import labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.settings.capacity.pools import Pool
    from ops.doctor.cluster.waiting.demands import Demand

    Json = dict[str, Any]

CHOICE, TAINT, SIZE = 1, 2, 3
"""How far a pod comes with a pool: stopped by labels, by taints, by what a machine has."""

OTHERS = (
    "amazonaws.com",
    "amd.com",
    "azure.com",
    names.DOMAIN,
    "google.com",
    "k8s.aws",
    "k8s.io",
    "karpenter.sh",
    "kubernetes.io",
    "nvidia.com",
)
"""Domains whose labels clouds, agents and Flotilla set: a node not made yet is taken to carry what a pod asks for."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why a pool takes no pod of this kind.

    Args:
        pool: the pool.
        stage: how far it came: `CHOICE`, `TAINT` or `SIZE`.
        reason: why, as what follows the pool's name.
    """

    pool: str
    stage: int
    reason: str


def refusals(demand: Demand, pools: Iterable[Pool], nodes: Sequence[Json]) -> list[Refusal | None]:
    """Return, for each pool, what it has against the pod; None where it would take it.

    Args:
        demand: the pod.
        pools: the pools.
        nodes: the cluster's nodes, which carry labels that settings know nothing of.
    """
    return [_refusal(demand, pool, nodes) for pool in pools]


def _refusal(demand: Demand, pool: Pool, nodes: Sequence[Json]) -> Refusal | None:
    whole = demand.pods()
    anything = replace(whole, each=Amounts(), tolerations=None)
    chosen = refusal(anything, pool) or _strange(demand, pool, nodes) or _affinity(demand, pool)
    if chosen:
        return Refusal(pool=pool.name, stage=CHOICE, reason=chosen)
    if kept := refusal(replace(whole, each=Amounts()), pool):
        return Refusal(pool=pool.name, stage=TAINT, reason=kept)
    if small := refusal(whole, pool):
        return Refusal(pool=pool.name, stage=SIZE, reason=small)
    return None


def _strange(demand: Demand, pool: Pool, nodes: Sequence[Json]) -> str | None:
    """Refuse a label that is neither the settings' nor the cloud's, and that no node carries: nobody would set it."""
    for key, value in demand.selector.items():
        domain = key.rpartition("/")[0]
        known = key in pool.labels or key in KNOWN or any(f".{domain}".endswith(f".{each}") for each in OTHERS)
        if not known and not _carried(key, value, nodes):
            return f"has no {key}, and the pod selects {value}"
    return None


def _carried(key: str, value: str, nodes: Sequence[Json]) -> bool:
    return any(labels(node).get(key) == value for node in nodes)


def _affinity(demand: Demand, pool: Pool) -> str | None:
    """Return the first expression that the pool fails, of the last of the terms, none of which it satisfies."""
    reason = None
    for term in demand.affinity:
        failed = [each for each in term.get("matchExpressions") or () if not _satisfied(each, pool)]
        if not failed:
            return None
        values = ", ".join(failed[0].get("values") or ())
        reason = f"fails the pod's affinity: {failed[0]['key']} {failed[0]['operator']} {values}".rstrip()
    return reason


def _satisfied(expression: Json, pool: Pool) -> bool:
    """Return whether nodes of the pool satisfy an expression; what settings cannot know is taken to be so."""
    key, operator, values = expression["key"], expression["operator"], expression.get("values") or []
    if key == ZONE:
        return any(_compares(zone, operator, values) for zone in pool.zones)
    if key not in pool.labels and key not in KNOWN:
        return True
    return _compares(pool.labels.get(key), operator, values)


def _compares(value: str | None, operator: str, values: Sequence[str]) -> bool:
    match operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            return True
