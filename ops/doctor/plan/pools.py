"""Node pools as the doctor examines them: what each node offers, with which driver, and who makes the nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from infra.core import names
from infra.settings.devices import devices_of, sharing_of
from infra.settings.models.autoscaler import Azure, ClusterApi, GkeComputeClass, Karpenter
from infra.settings.models.gpu import Mig
from ops.doctor.cluster.target import Autoscaler, DriverNeed, GpuPool, Plugin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.models.cluster import Cluster
    from infra.settings.models.gpu import Gpu
    from infra.settings.models.node_pools import NodePool

MIG_DRIVERS = (
    (re.compile(r"(?i)\b(A100|A30)\b"), (450, 80, 2)),
    (re.compile(r"(?i)\bH[12]00\b"), (525, 53)),
    (re.compile(r"(?i)\bB200\b"), (570, 133, 20)),
    (re.compile(r"(?i)\bRTX PRO [56]000\b"), (575, 51, 3)),
)
"""The first driver that cuts a product into parts.

Source: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/deployment-considerations.html; the table of its
current edition has the rows of A100 and H100 swapped, which older editions do not.
"""

DCGM_DRIVER = (450,)
"""Source: https://docs.nvidia.com/datacenter/dcgm/latest/installation.html, "Supported Platforms"."""

PLUGIN_DRIVER = (384, 81)
"""Source: https://github.com/NVIDIA/k8s-device-plugin, README, "Prerequisites", v0.20.0."""

PLUGINS = {"amd": ("amd-gpu", "amd-device-plugin"), "neuron": ("aws-neuron", "neuron-device-plugin")}
"""Namespace and DaemonSet of the plugins of other vendors."""


def gpu_pools(cluster: Cluster) -> Iterator[GpuPool]:
    """Yield what is expected of the nodes of each pool with accelerators."""
    for pool in cluster.node_pools:
        if not pool.machine.gpus:
            continue
        nvidia = pool.machine.vendor == "nvidia"
        yield GpuPool(
            name=pool.name,
            nodes=pool.nodes.min,
            devices=devices_of(pool, cluster.gpu),
            product=pool.machine.accelerator if nvidia else None,
            cut=isinstance(sharing_of(pool, cluster.gpu), Mig),
            driver=_driver(pool, cluster.gpu) if nvidia else None,
            plugin=_plugin(pool, cluster.gpu),
        )


def autoscaler(cluster: Cluster) -> Autoscaler:
    """Return who makes and removes nodes, and where it runs if that is in the cluster."""
    from infra.components.cluster.node_pools import cluster_autoscaler, controller

    match cluster.autoscaler:
        case Karpenter(provider=Azure()):
            return Autoscaler(kind="karpenter")
        case Karpenter():
            return Autoscaler(
                kind="karpenter", namespace=controller.NAMESPACE, name=controller.NAME, lease=controller.LEASE
            )
        case ClusterApi(namespace=machines):
            return Autoscaler(
                kind="cluster-api",
                namespace=cluster_autoscaler.NAMESPACE,
                name=cluster_autoscaler.NAME,
                lease=cluster_autoscaler.LEASE,
                machines=machines,
            )
        case GkeComputeClass():
            return Autoscaler(kind="gke-compute-class")
        case _:
            return Autoscaler()


def _driver(pool: NodePool, gpu: Gpu) -> DriverNeed:
    """Return the newest of all oldest drivers: of the agents, of cutting GPUs into parts, and of teams' images."""
    needs = [
        DriverNeed(version=PLUGIN_DRIVER, reason="NVIDIA's device plugin does not start"),
        DriverNeed(version=DCGM_DRIVER, reason="the DCGM exporter measures nothing"),
    ]
    if isinstance(sharing_of(pool, gpu), Mig):
        product = (pool.machine.accelerator or "").replace("-", " ")
        reason = f"no {pool.machine.accelerator} is cut into parts"
        needs += [DriverNeed(version=oldest, reason=reason) for name, oldest in MIG_DRIVERS if name.search(product)]
    if gpu.nvidia.oldest_driver:
        version = tuple(int(part) for part in gpu.nvidia.oldest_driver.split("."))
        reason = "teams' images do not run, says `cluster.gpu.nvidia.oldestDriver`"
        needs.append(DriverNeed(version=version, reason=reason))
    return max(needs, key=lambda need: need.version)


def _plugin(pool: NodePool, gpu: Gpu) -> Plugin | None:
    from infra.components.cluster.gpu.device_plugin import NAME

    vendor = pool.machine.vendor
    settings = {"nvidia": gpu.nvidia, "amd": gpu.amd, "neuron": gpu.neuron}[vendor]
    if settings.device_plugin.installed != "install":
        return None
    if vendor != "nvidia":
        namespace, name = PLUGINS[vendor]
        return Plugin(namespace=namespace, name=name)
    sharing = sharing_of(pool, gpu)
    return Plugin(namespace="nvidia", name=names.bounded(f"{NAME}-{sharing.name}") if sharing else NAME)
