"""What an environment comes to, as a person reads it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from infra.core import names
from ops.console import table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from infra.settings import Settings
    from ops.manifests import Manifest, Rendered


def print_rendered(console: Console, settings: Settings, rendered: Rendered) -> None:
    """Print what would be declared: workloads and their availability, teams and quotas, counts by kind."""
    console.print(f"[bold]{settings.environment}[/]: {len(rendered.objects)} objects", markup=True)
    console.print(workloads(rendered.objects))
    console.print(pools(settings))
    console.print(quotas(settings))
    counts = Counter(manifest["kind"] for manifest in rendered.objects)
    counts["CustomResourceDefinition"] = sum(len(bundle["crds"]) for bundle in rendered.bundles.values())
    console.print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))


def workloads(manifests: list[Manifest]) -> Table:
    """Return the table of workloads: how each survives losing a pod, a node or a zone."""
    rows = table("Workloads", "workload", "namespace", "availability", "disruption", "image")
    budgets = {
        manifest["metadata"]["name"]: manifest["spec"]
        for manifest in manifests
        if manifest["kind"] == "PodDisruptionBudget"
    }
    for manifest in manifests:
        if manifest["kind"] not in ("Deployment", "DaemonSet"):
            continue
        metadata = manifest["metadata"]
        annotations = metadata.get("annotations", {})
        budget = budgets.get(metadata["name"])
        rows.add_row(
            metadata["name"],
            metadata["namespace"],
            annotations.get(names.AVAILABILITY, "every node"),
            f"at most {budget['maxUnavailable']} down" if budget else "with its node",
            manifest["spec"]["template"]["spec"]["containers"][0]["image"].rpartition("/")[2],
        )
    return rows


def pools(settings: Settings) -> Table:
    """Return the table of node pools."""
    rows = table("Node pools", "pool", "machine", "GPUs each", "nodes", "zones")
    for pool in settings.cluster.node_pools:
        rows.add_row(
            pool.name,
            pool.instance_type,
            f"{pool.machine.gpus} {pool.machine.accelerator or ''}".strip() if pool.machine.gpus else "-",
            f"{pool.nodes.min}-{pool.nodes.max}" if pool.nodes.min != pool.nodes.max else str(pool.nodes.min),
            ", ".join(pool.zones or settings.cluster.zones),
        )
    return rows


def quotas(settings: Settings) -> Table:
    """Return the table of teams and what each may use."""
    rows = table("Teams", "team", "owner", "CPUs", "memory", "GPUs", "pods", "shared storage")
    for team in settings.teams:
        quota = team.quota
        rows.add_row(
            team.name,
            team.owner,
            str(quota.cpu),
            str(quota.memory),
            str(quota.gpus),
            str(quota.pods),
            str(quota.shared_storage),
        )
    return rows
