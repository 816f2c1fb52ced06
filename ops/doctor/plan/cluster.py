"""The cluster as a target: what the environment's manifests need of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.doctor.cluster.storage import DEFAULT
from ops.doctor.cluster.target import ClusterTarget, GpuPool, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings import Settings
    from ops.manifests import Manifest, Rendered

CHARTS = {
    "cloudnative-pg": ("postgresql.cnpg.io",),
    "moco": ("moco.cybozu.com",),
    "plugin-barman-cloud": ("barmancloud.cnpg.io",),
    "pxc-operator": ("pxc.percona.com",),
    "rook-ceph": ("ceph.rook.io", "objectbucket.io"),
    "strimzi-kafka-operator": ("kafka.strimzi.io", "core.strimzi.io"),
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
        zones=settings.cluster.zones,
        gpu_pools=tuple(_gpu_pools(settings)),
        kinds=tuple(_kinds(rendered)),
        default_class=next(_defaults(rendered.objects), None),
    )


def _gpu_pools(settings: Settings) -> Iterator[GpuPool]:
    plugin = settings.cluster.gpu.nvidia.device_plugin.installed == "install"
    for pool in settings.cluster.node_pools:
        if pool.purpose == "gpu" and pool.nodes.min and pool.machine.gpus:
            yield GpuPool(name=pool.name, nodes=pool.nodes.min, gpus=pool.machine.gpus, plugin_comes=plugin)


def _kinds(rendered: Rendered) -> Iterator[Kind]:
    """Yield each kind that is applied, and what brings it."""
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
    for api_version, kind in sorted(found):
        yield Kind(api_version=api_version, name=kind, comes_with=groups.get(api_version.rpartition("/")[0]))


def _defaults(objects: list[Manifest]) -> Iterator[str]:
    for item in objects:
        annotations: dict[str, Any] = item["metadata"].get("annotations") or {}
        if item["kind"] == "StorageClass" and annotations.get(DEFAULT) == "true":
            yield item["metadata"]["name"]


def _group(item: Manifest) -> str:
    return str(item["apiVersion"]).rpartition("/")[0]
