"""Rules about what GKE needs to be told otherwise than by a ComputeClass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.gke_accelerators import NAMES
from infra.settings.models.autoscaler import GkeComputeClass
from infra.settings.rules.rule import Violation, rule
from infra.settings.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.models.settings import Settings

POOLS = ("cluster", "nodePools")


@rule("cluster")
def google_sells_the_accelerators(settings: Settings) -> Iterator[Violation]:
    """Refuse GPUs that Google has no name for: a ComputeClass has to say it."""
    if not isinstance(settings.cluster.autoscaler, GkeComputeClass):
        return
    for number, pool in enumerate(settings.cluster.node_pools):
        product = pool.machine.accelerator
        if pool.purpose == "gpu" and product and product not in NAMES:
            remedy = f"{did_you_mean(product, sorted(NAMES))}Write one of {', '.join(sorted(NAMES))}"
            yield Violation((*POOLS, number, "machine", "accelerator"), f"Google does not sell {product}", remedy)


@rule("cluster", "teams")
def quotas_bound_gke_pools(settings: Settings) -> Iterator[Violation]:
    """Refuse quotas that add up to more than the pools: a ComputeClass has no largest size that would bound it."""
    if not isinstance(settings.cluster.autoscaler, GkeComputeClass):
        return
    pools = [pool for pool in settings.cluster.node_pools if pool.purpose != "system"]
    holds = {
        "cpu": sum(pool.machine.cpu.value * pool.nodes.max for pool in pools),
        "gpus": sum(pool.machine.gpus * pool.nodes.max for pool in pools),
    }
    asked = {
        "cpu": sum(team.quota.cpu.value for team in settings.teams),
        "gpus": sum(team.quota.gpus for team in settings.teams),
    }
    for key, largest in holds.items():
        if asked[key] > largest:
            total, whole = float(asked[key]), float(largest)
            what = f"GKE would grow to the {total:g} {key} of all teams' quotas, beyond the pools' {whole:g}"
            yield Violation(POOLS, what, "Lower the quotas, or raise the pools' nodes.max")
