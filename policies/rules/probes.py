"""What runs for long tells when it is ready and when it is stuck."""

from __future__ import annotations

from policies.exemptions import NO_PROBES
from policies.manifest import Manifest, dig, group_kind, is_missing
from policies.pods import SERVING_KINDS, containers
from policies.rule import Rule


def check(manifest: Manifest) -> list[str]:
    """Refuse containers without readiness probe and, except on node agents, without liveness probe."""
    agent = group_kind(manifest) == "DaemonSet.apps"
    required = ("readinessProbe",) if agent else ("readinessProbe", "livenessProbe")
    return [
        f"{container.label} has no {' and no '.join(missing)}"
        for container in containers(manifest)
        if container.lasting and (missing := [probe for probe in required if is_missing(dig(container.spec, probe))])
    ]


PROBES = Rule(
    name="probes",
    title="Every serving container has readiness and liveness probes; a DaemonSet's, readiness.",
    why=(
        "Without readiness, traffic and roll-outs go on before the program can serve, and a broken version "
        "replaces every good replica; without liveness, a stuck program stays stuck."
    ),
    remedy=f"Add the probes, or say in {NO_PROBES.annotation} why the program cannot be asked",
    kinds=SERVING_KINDS,
    exemptions=(NO_PROBES,),
    check=check,
)
