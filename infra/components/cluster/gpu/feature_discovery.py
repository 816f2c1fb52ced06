"""GPU feature discovery, which labels nodes with the product, memory, driver and sharing of their GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from infra import chart_sources, versions
from infra.components.cluster.gpu import nodes, sharing
from infra.core import names
from infra.core.chart import Chart, ChartArgs
from infra.core.component import Component
from infra.core.node_agent import NODE_CRITICAL, NodeAgent, NodeAgentArgs
from infra.core.parts import Container, FromField, Privileges, Volume

if TYPE_CHECKING:
    from infra.components.cluster.gpu.sharing import Group
    from infra.settings.models.gpu import Nvidia
    from infra.settings.models.node_pools import NodePool

NAME = "gpu-feature-discovery"
CONFIG = f"{NAME}-config"
NODE_FEATURES = "node-feature-discovery"
PART_OF = "cluster"
MASTERS = 2
"""Replicas of what turns features into labels, of which one leads."""

PCI = {"deviceClassWhitelist": ["02", "03", "12"], "deviceLabelFields": ["vendor"]}
"""Network, display and accelerator devices, labelled by vendor alone: `pci-10de.present` wherever NVIDIA's is found."""

VOLUMES = (
    Volume(
        name="features",
        path="/etc/kubernetes/node-feature-discovery/features.d",
        host_path="/etc/kubernetes/node-feature-discovery/features.d",
        read_only=False,
    ),
    Volume(name="sys", path="/sys", host_path="/sys"),
)


@dataclass(frozen=True, kw_only=True)
class FeatureDiscoveryArgs:
    """What feature discovery is declared from.

    Args:
        settings: how NVIDIA's GPUs are offered to pods.
        pools: the cluster's pools; it runs on those with NVIDIA's GPUs.
        namespace: where it runs; must admit privileged pods.
    """

    settings: Nvidia
    pools: Sequence[NodePool]
    namespace: pulumi.Input[str]


class FeatureDiscovery(Component):
    """Runs GPU feature discovery on every node with NVIDIA's GPUs, and node feature discovery where nobody else does.

    The first writes what it finds into a folder of the node, the second makes labels of it.

    Source: https://github.com/NVIDIA/k8s-device-plugin, tag v0.20.0, `docs/gpu-feature-discovery` and
    `deployments/helm/nvidia-device-plugin/templates/daemonset-gfd.yml`; of the chart,
    https://github.com/kubernetes-sigs/node-feature-discovery, `deployment/helm/node-feature-discovery/values.yaml`.
    """

    group = "cluster"

    def __init__(self, name: str, args: FeatureDiscoveryArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._args = args
        nvidia = args.settings
        self._files = sharing.files(nvidia.sharing, fail_on_init_error=False)
        after: list[pulumi.Resource] = []
        if nvidia.feature_discovery.node_feature_discovery == "install":
            after += self._node_features().ready
        if nvidia.sharing:
            after.append(sharing.config_map(CONFIG, args.namespace, self._files, PART_OF, self.child()))
        for group in sharing.groups(nvidia.sharing, args.pools):
            self._discovery(group, after)
        self.register_outputs({})

    def _node_features(self) -> Chart:
        tolerated = [
            {"key": each.key, "operator": each.operator, "effect": each.effect}
            for each in nodes.tolerations(self._args.pools, "nvidia")
        ]
        return Chart(
            NODE_FEATURES,
            ChartArgs(
                source=chart_sources.NODE_FEATURE_DISCOVERY,
                namespace=self._args.namespace,
                part_of=PART_OF,
                values={
                    "priorityClassName": names.PLATFORM_PRIORITY,
                    "master": {"replicaCount": MASTERS, "extraLabelNs": ["nvidia.com"]},
                    "worker": {
                        "tolerations": tolerated,
                        "priorityClassName": NODE_CRITICAL,
                        "config": {"sources": {"pci": PCI}},
                    },
                },
            ),
            opts=self.child(),
        )

    def _discovery(self, group: Group, after: list[pulumi.Resource]) -> None:
        nvidia = self._args.settings
        text = self._files[sharing.file_of(group.sharing)] if group.sharing else None
        NodeAgent(
            group.named(NAME),
            NodeAgentArgs(
                namespace=self._args.namespace,
                part_of=PART_OF,
                container=Container(
                    image=versions.NVIDIA_DEVICE_PLUGIN,
                    probes=None,
                    command=("gpu-feature-discovery",),
                    environment={
                        "NODE_NAME": FromField(path="spec.nodeName"),
                        "NAMESPACE": FromField(path="metadata.namespace"),
                        "POD_NAME": FromField(path="metadata.name"),
                        **sharing.environment(group, fail_on_init_error=False),
                    },
                    volumes=[*VOLUMES, *([sharing.volume(CONFIG)] if group.sharing else [])],
                ),
                resources=nvidia.feature_discovery.resources,
                affinity=group.affinity,
                tolerations=nodes.tolerations(self._args.pools, "nvidia"),
                privileges=Privileges(
                    reason="Writes what it finds into a folder of the node, which only root may.",
                    run_as_root=True,
                    capabilities=("SYS_ADMIN",) if group.needs_admin else (),
                ),
                runtime_class=nvidia.runtime_class.name if nvidia.runtime_class else None,
                no_probes_reason="It serves nothing: it looks once a minute, and exits when it cannot.",
                pod_annotations=names.files_digest({"config": text}) if text else {},
            ),
            opts=self.child(depends_on=after),
        )
