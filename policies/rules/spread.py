"""Replicas are spread over zones and hosts."""

from __future__ import annotations

from policies.exemptions import NO_SPREAD, SINGLETON
from policies.labels import selects
from policies.manifest import UNKNOWN, Manifest, dig, items
from policies.pods import REPLICATED_KINDS, pod, pod_labels
from policies.rule import Rule

TOPOLOGIES = {"topology.kubernetes.io/zone": "zones", "kubernetes.io/hostname": "hosts"}


def check(manifest: Manifest) -> list[str]:
    """Refuse pods without a spread constraint over zones, or over hosts, that counts the pods themselves."""
    constraints = dig(pod(manifest), "spec", "topologySpreadConstraints")
    declared = items(constraints)
    keys = [dig(constraint, "topologyKey") for constraint in declared]
    if constraints is UNKNOWN or UNKNOWN in declared or UNKNOWN in keys:
        return []
    faults: list[str] = []
    for topology, places in TOPOLOGIES.items():
        over = [constraint for constraint in declared if dig(constraint, "topologyKey") == topology]
        if not over:
            faults.append(f"its replicas are not spread over {places} ({topology})")
        elif all(_counts(constraint, manifest) is False for constraint in over):
            faults.append(f"its spread over {places} ({topology}) has a labelSelector that misses its own pods")
    return faults


def _counts(constraint: object, manifest: Manifest) -> bool | None:
    return selects(dig(constraint, "labelSelector"), pod_labels(manifest))


SPREAD = Rule(
    name="spread",
    title="Replicas are spread over zones and over hosts.",
    why=(
        "The scheduler may put every replica on one node or in one zone; they are then lost together. A "
        "constraint whose selector misses the pods counts nothing and has no effect."
    ),
    remedy=(
        "Add topologySpreadConstraints over topology.kubernetes.io/zone and kubernetes.io/hostname whose "
        f"labelSelector matches the pods, or say why not in {NO_SPREAD.annotation}"
    ),
    kinds=REPLICATED_KINDS,
    exemptions=(SINGLETON, NO_SPREAD),
    check=check,
)
