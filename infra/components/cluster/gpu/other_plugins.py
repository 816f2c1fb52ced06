"""The device plugins of AMD's GPUs and of AWS' Inferentia and Trainium."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from infra import versions
from infra.components.cluster.gpu import nodes
from infra.core.component import Component
from infra.core.node_agent import NodeAgent, NodeAgentArgs
from infra.core.parts import Container, FromField, Permissions, Privileges, Rule, Volume
from infra.settings.devices import of_vendor

if TYPE_CHECKING:
    from infra.settings.models.gpu import DevicePlugin
    from infra.settings.models.node_pools import NodePool

PART_OF = "cluster"
SOCKETS = Volume(
    name="device-plugins",
    path="/var/lib/kubelet/device-plugins",
    host_path="/var/lib/kubelet/device-plugins",
    read_only=False,
)
REASON = "Registers with the kubelet through its socket on the host, which only root may open."
NO_PROBES = "The plugin serves only the kubelet's socket, and exits when that is lost."

_READ = ("get", "list", "watch")
NEURON_PERMISSIONS = Permissions(
    cluster=(
        Rule(groups=("",), resources=("nodes",), verbs=_READ),
        Rule(groups=("",), resources=("nodes/status",), verbs=("patch", "update")),
        Rule(groups=("",), resources=("pods",), verbs=(*_READ, "patch", "update")),
        Rule(groups=("",), resources=("events",), verbs=("create", "patch")),
    )
)
"""Upstream's: it keeps on nodes and pods which devices were handed out.

Source: https://github.com/aws-neuron/aws-neuron-sdk, `src/k8/k8s-neuron-device-plugin-rbac.yml`.
"""


@dataclass(frozen=True, kw_only=True)
class OtherPluginArgs:
    """What a plugin is declared from.

    Args:
        settings: its resources.
        pools: the cluster's pools; it runs on those of its vendor.
        namespace: where it runs; must admit privileged pods.
    """

    settings: DevicePlugin
    pools: Sequence[NodePool]
    namespace: pulumi.Input[str]


class AmdDevicePlugin(Component):
    """Runs AMD's plugin on the nodes of AMD's pools. Owns no drivers: node images bring those.

    Source: https://github.com/ROCm/k8s-device-plugin, `k8s-ds-amdgpu-dp.yaml`.
    """

    group = "cluster"

    def __init__(self, name: str, args: OtherPluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        container = Container(
            image=versions.AMD_DEVICE_PLUGIN,
            probes=None,
            volumes=[SOCKETS, Volume(name="sys", path="/sys", host_path="/sys")],
        )
        NodeAgent("amd-device-plugin", _agent(args, "amd", container, Permissions()), opts=self.child())
        self.register_outputs({})


class NeuronDevicePlugin(Component):
    """Runs AWS' plugin on the nodes of Neuron's pools. Owns no drivers: node images bring those.

    Source: https://github.com/aws-neuron/aws-neuron-sdk, `src/k8/k8s-neuron-device-plugin.yml`.
    """

    group = "cluster"

    def __init__(self, name: str, args: OtherPluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        container = Container(
            image=versions.NEURON_DEVICE_PLUGIN,
            probes=None,
            environment={
                "KUBECONFIG": "/etc/kubernetes/kubelet.conf",
                "NODE_NAME": FromField(path="spec.nodeName"),
            },
            volumes=[SOCKETS, Volume(name="run", path="/run", host_path="/run", read_only=False)],
        )
        NodeAgent("neuron-device-plugin", _agent(args, "neuron", container, NEURON_PERMISSIONS), opts=self.child())
        self.register_outputs({})


def _agent(args: OtherPluginArgs, vendor: str, container: Container, permissions: Permissions) -> NodeAgentArgs:
    return NodeAgentArgs(
        namespace=args.namespace,
        part_of=PART_OF,
        container=container,
        resources=args.settings.resources,
        affinity=nodes.of_pools([pool.name for pool in of_vendor(args.pools, vendor)]),
        tolerations=nodes.tolerations(args.pools, vendor),
        permissions=permissions,
        privileges=Privileges(reason=REASON, run_as_root=True),
        no_probes_reason=NO_PROBES,
    )
