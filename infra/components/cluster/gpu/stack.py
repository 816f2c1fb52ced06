"""Everything that accelerators need in a cluster, by vendor, where some pool has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from infra.components.cluster.gpu.dcgm_exporter import DcgmExporter, DcgmExporterArgs
from infra.components.cluster.gpu.device_plugin import DevicePlugin, DevicePluginArgs
from infra.components.cluster.gpu.feature_discovery import FeatureDiscovery, FeatureDiscoveryArgs
from infra.components.cluster.gpu.health import GpuHealth, GpuHealthArgs
from infra.components.cluster.gpu.other_plugins import AmdDevicePlugin, NeuronDevicePlugin, OtherPluginArgs
from infra.components.cluster.gpu.runtime import GpuRuntime
from infra.core.namespace import Namespace
from infra.settings.devices import of_vendor
from infra.settings.models.gpu_health import NodeProblemDetector

if TYPE_CHECKING:
    from infra.settings.models.cluster import Cluster

PART_OF = "cluster"


def declare_accelerators(cluster: Cluster, opts: pulumi.ResourceOptions) -> None:
    """Declare each vendor's agents; what the settings call present is left to whoever brought it."""
    _nvidia(cluster, opts)
    others = (
        ("amd", "amd-gpu", AmdDevicePlugin, cluster.gpu.amd.device_plugin),
        ("neuron", "aws-neuron", NeuronDevicePlugin, cluster.gpu.neuron.device_plugin),
    )
    for vendor, space, plugin, settings in others:
        if settings.installed == "install" and of_vendor(cluster.node_pools, vendor):
            namespace = Namespace(space, part_of=PART_OF, pod_security="privileged", opts=opts)
            args = OtherPluginArgs(settings=settings, pools=cluster.node_pools, namespace=namespace.name)
            plugin(f"{vendor}-device-plugin", args, opts=opts)


def _nvidia(cluster: Cluster, opts: pulumi.ResourceOptions) -> None:
    nvidia, pools = cluster.gpu.nvidia, cluster.node_pools
    agents = (nvidia.device_plugin, nvidia.feature_discovery, nvidia.dcgm_exporter)
    if not of_vendor(pools, "nvidia"):
        return
    runtime = nvidia.runtime_class
    ready = GpuRuntime("gpu-runtime", runtime, opts=opts).ready if runtime and runtime.installed == "install" else []
    health = nvidia.health
    watcher = health if isinstance(health, NodeProblemDetector) and health.installed == "install" else None
    if all(agent.installed == "present" for agent in agents) and not watcher:
        return
    namespace = Namespace("nvidia", part_of=PART_OF, pod_security="privileged", opts=opts).name
    after = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=ready))
    if nvidia.device_plugin.installed == "install":
        args = DevicePluginArgs(settings=nvidia, pools=pools, namespace=namespace)
        DevicePlugin("device-plugin", args, opts=after)
    if nvidia.feature_discovery.installed == "install":
        discovery = FeatureDiscoveryArgs(settings=nvidia, pools=pools, namespace=namespace)
        FeatureDiscovery("feature-discovery", discovery, opts=after)
    if nvidia.dcgm_exporter.installed == "install":
        exporter = DcgmExporterArgs(settings=nvidia, pools=pools, namespace=namespace)
        DcgmExporter("gpu-metrics", exporter, opts=after)
    if watcher:
        GpuHealth("gpu-health", GpuHealthArgs(settings=watcher, pools=pools, namespace=namespace), opts=after)
