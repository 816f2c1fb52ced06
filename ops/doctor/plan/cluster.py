"""The cluster as a target: what the environment's manifests need of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra.settings.capacity.pools import pools_of
from infra.settings.gangs import pod_group
from infra.settings.models.scheduling import Kueue
from infra.settings.topology import levels_by_pool
from ops.doctor.cluster.storage import DEFAULT
from ops.doctor.cluster.target import ClusterTarget, Kind
from ops.doctor.plan.pools import autoscaler, gpu_pools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings import Settings
    from ops.manifests import Manifest, Rendered

CHARTS = {
    "cloudnative-pg": ("postgresql.cnpg.io",),
    "kueue": ("kueue.x-k8s.io",),
    "moco": ("moco.cybozu.com",),
    "plugin-barman-cloud": ("barmancloud.cnpg.io",),
    "pxc-operator": ("pxc.percona.com",),
    "rook-ceph": ("ceph.rook.io", "objectbucket.io"),
    "strimzi-kafka-operator": ("kafka.strimzi.io", "core.strimzi.io"),
    "volcano": ("scheduling.volcano.sh",),
}
"""API groups that charts bring."""

FLUX = ("helm.toolkit.fluxcd.io", "source.toolkit.fluxcd.io")
"""API groups by which manifests show a Helm release. The engine installs releases itself, and keeps them in Secrets."""


def cluster_target(settings: Settings, context: str) -> ClusterTarget:
    """Return what to check of the cluster."""
    from ops.manifests import render

    rendered = render(settings)
    return ClusterTarget(
        context=context,
        environment=settings.environment,
        zones=settings.cluster.zones,
        pools=pools_of(settings.cluster, settings.capacity.node_reserve),
        gpu_pools=tuple(gpu_pools(settings.cluster)),
        autoscaler=autoscaler(settings.cluster),
        teams=tuple(team.name for team in settings.teams),
        queues=isinstance(settings.scheduling.queues, Kueue),
        levels=levels_by_pool(settings.cluster, settings.scheduling.queues),
        kinds=tuple(_kinds(rendered, pod_group(settings.scheduling.gangs))),
        default_class=next(_defaults(rendered.objects), None),
    )


def _kinds(rendered: Rendered, made_for_jobs: tuple[str, str] | None) -> Iterator[Kind]:
    """Yield each kind that is applied, or that the training operator makes for each job, and what brings it."""
    groups: dict[str, str] = {}
    for name, bundle in rendered.bundles.items():
        groups |= {crd.partition(".")[2]: f"the CRD bundle {name}" for crd in bundle["crds"]}
    objects = [item for item in rendered.objects if _group(item) not in FLUX]
    releases = [item for item in rendered.objects if item["kind"] == "HelmRelease"]
    for release in releases:
        chart = release["spec"]["chart"]["spec"]["chart"]
        groups |= dict.fromkeys(CHARTS.get(chart, ()), f"the chart {chart}")
    found = {(item["apiVersion"], item["kind"]) for item in objects}
    if releases:
        found.add(("v1", "Secret"))
    if made_for_jobs:
        found.add(made_for_jobs)
    for api_version, kind in sorted(found):
        yield Kind(api_version=api_version, name=kind, comes_with=groups.get(api_version.rpartition("/")[0]))


def _defaults(objects: list[Manifest]) -> Iterator[str]:
    for item in objects:
        annotations: dict[str, Any] = item["metadata"].get("annotations") or {}
        if item["kind"] == "StorageClass" and annotations.get(DEFAULT) == "true":
            yield item["metadata"]["name"]


def _group(item: Manifest) -> str:
    return str(item["apiVersion"]).rpartition("/")[0]
