"""NVIDIA's device plugin, which tells the scheduler of a node's GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra import versions
from infra.core import names
from infra.core.component import Component
from infra.core.node_agent import NodeAgent, NodeAgentArgs
from infra.core.parts import Container, Privileges, Volume

if TYPE_CHECKING:
    from infra.settings.models.cluster import Gpu

NAME = "nvidia-device-plugin"
PART_OF = "cluster"
RESOURCE = "nvidia.com/gpu"


@dataclass(frozen=True, kw_only=True)
class DevicePluginArgs:
    """What the device plugin is declared from.

    Args:
        settings: how GPUs are offered to pods.
        namespace: where it runs; must admit privileged pods.
    """

    settings: Gpu
    namespace: pulumi.Input[str]


class DevicePlugin(Component):
    """Runs the plugin on every GPU node. Owns neither drivers nor the container toolkit: node images bring those.

    Source: https://github.com/NVIDIA/k8s-device-plugin, tag v0.20.0, `deployments/static/nvidia-device-plugin.yml`.
    """

    group = "cluster"

    def __init__(self, name: str, args: DevicePluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        plugin = args.settings.device_plugin
        NodeAgent(
            NAME,
            NodeAgentArgs(
                namespace=args.namespace,
                part_of=PART_OF,
                container=Container(
                    image=versions.NVIDIA_DEVICE_PLUGIN,
                    probes=None,
                    environment={
                        "MIG_STRATEGY": plugin.mig_strategy,
                        "FAIL_ON_INIT_ERROR": str(plugin.fail_on_init_error).lower(),
                    },
                    volumes=[
                        Volume(
                            name="device-plugins",
                            path="/var/lib/kubelet/device-plugins",
                            host_path="/var/lib/kubelet/device-plugins",
                            read_only=False,
                        )
                    ],
                ),
                resources=plugin.resources,
                affinity=_gpu_nodes(),
                tolerations=[k8s.core.v1.TolerationArgs(key=RESOURCE, operator="Exists", effect="NoSchedule")],
                privileges=Privileges(
                    reason="Registers with the kubelet through its socket on the host, which only root may open.",
                    run_as_root=True,
                ),
                runtime_class=args.settings.runtime_class,
                no_probes_reason="The plugin serves only the kubelet's socket, and exits when that is lost.",
            ),
            opts=self.child(),
        )
        self.register_outputs({})


def _gpu_nodes() -> k8s.core.v1.AffinityArgs:
    """Nodes of a GPU pool, or nodes where feature discovery found an NVIDIA device."""

    def having(key: str, value: str) -> k8s.core.v1.NodeSelectorTermArgs:
        return k8s.core.v1.NodeSelectorTermArgs(
            match_expressions=[k8s.core.v1.NodeSelectorRequirementArgs(key=key, operator="In", values=[value])]
        )

    return k8s.core.v1.AffinityArgs(
        node_affinity=k8s.core.v1.NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=k8s.core.v1.NodeSelectorArgs(
                node_selector_terms=[
                    having(names.NODE_PURPOSE, "gpu"),
                    having("nvidia.com/gpu.present", "true"),
                    having("feature.node.kubernetes.io/pci-10de.present", "true"),
                ]
            )
        )
    )
