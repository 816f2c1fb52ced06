"""NVIDIA's device plugin, which tells the scheduler of a node's GPUs and of the parts they are shared in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from infra import versions
from infra.components.cluster.gpu import nodes, sharing
from infra.core import names
from infra.core.component import Component
from infra.core.node_agent import NodeAgent, NodeAgentArgs
from infra.core.parts import Container, FromField, Privileges, Volume
from infra.settings.models.gpu import Mps

if TYPE_CHECKING:
    from infra.components.cluster.gpu.sharing import Group
    from infra.settings.models.gpu import Nvidia
    from infra.settings.models.node_pools import NodePool

NAME = "nvidia-device-plugin"
MPS = "nvidia-mps"
CONFIG = f"{NAME}-config"
PART_OF = "cluster"
MPS_ROOT = "/run/nvidia/mps"
"""Where a node keeps the pipes and the shared memory of the Multi-Process Service."""

SOCKETS = Volume(
    name="device-plugins",
    path="/var/lib/kubelet/device-plugins",
    host_path="/var/lib/kubelet/device-plugins",
    read_only=False,
)
MPS_VOLUMES = (
    Volume(name="mps-root", path="/mps", host_path=MPS_ROOT, read_only=False),
    Volume(name="mps-shm", path="/dev/shm", host_path=f"{MPS_ROOT}/shm", read_only=False),  # noqa: S108 - in a pod
)


@dataclass(frozen=True, kw_only=True)
class DevicePluginArgs:
    """What the device plugin is declared from.

    Args:
        settings: how NVIDIA's GPUs are offered to pods.
        pools: the cluster's pools; the plugin runs on those with NVIDIA's GPUs.
        namespace: where it runs; must admit privileged pods.
    """

    settings: Nvidia
    pools: Sequence[NodePool]
    namespace: pulumi.Input[str]


class DevicePlugin(Component):
    """Runs the plugin on every node with NVIDIA's GPUs, once for each way of sharing them.

    A node's pool decides which: its label is there from the first moment, so no node ever offers its GPUs in the wrong
    way, however often it comes and goes. Where GPUs are shared by MPS, the daemon that does it runs beside the plugin.
    Owns neither drivers nor the container toolkit, and cuts no GPU into MIG's parts: node images bring and do that.

    Source: https://github.com/NVIDIA/k8s-device-plugin, tag v0.20.0, `deployments/static/nvidia-device-plugin.yml` and
    `deployments/helm/nvidia-device-plugin/templates`.
    """

    group = "cluster"

    def __init__(self, name: str, args: DevicePluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._args = args
        plugin, ways = args.settings.device_plugin, args.settings.sharing
        self._files = sharing.files(ways, fail_on_init_error=plugin.fail_on_init_error)
        after: list[pulumi.Resource] = []
        if ways:
            after.append(sharing.config_map(CONFIG, args.namespace, self._files, PART_OF, self.child()))
        for group in sharing.groups(ways, args.pools):
            self._plugin(group, after)
            if isinstance(group.sharing, Mps):
                self._mps(group, after)
        self.register_outputs({})

    def _plugin(self, group: Group, after: list[pulumi.Resource]) -> None:
        plugin = self._args.settings.device_plugin
        by_mps = isinstance(group.sharing, Mps)
        root = {"MPS_ROOT": MPS_ROOT} if by_mps else {}
        self._agent(
            NAME,
            group,
            Container(
                image=versions.NVIDIA_DEVICE_PLUGIN,
                probes=None,
                environment=sharing.environment(group, fail_on_init_error=plugin.fail_on_init_error) | root,
                volumes=[SOCKETS, *(MPS_VOLUMES if by_mps else ()), *self._config(group)],
            ),
            Privileges(
                reason="Registers with the kubelet through its socket on the host, which only root may open.",
                run_as_root=True,
                capabilities=("SYS_ADMIN",) if group.needs_admin else (),
            ),
            "The plugin serves only the kubelet's socket, and exits when that is lost.",
            after,
        )

    def _mps(self, group: Group, after: list[pulumi.Resource]) -> None:
        """Run the daemon that shares GPUs; what it mounts for it has to appear on the node."""
        root = Volume(name="mps-root", path="/mps", host_path=MPS_ROOT, read_only=False, shared_mounts=True)
        self._agent(
            MPS,
            group,
            Container(
                image=versions.NVIDIA_DEVICE_PLUGIN,
                probes=None,
                command=("mps-control-daemon",),
                environment={
                    "NODE_NAME": FromField(path="spec.nodeName"),
                    **sharing.environment(group, fail_on_init_error=True),
                },
                volumes=[*MPS_VOLUMES, *self._config(group)],
                writable_root=True,
            ),
            Privileges(
                reason="Mounts shared memory on the node and starts the service on its GPUs.",
                run_as_root=True,
                privileged=True,
            ),
            "The daemon listens on pipes of the node only; the device plugin checks it.",
            after,
            init=Container(
                image=versions.NVIDIA_DEVICE_PLUGIN,
                probes=None,
                command=("mps-control-daemon", "mount-shm"),
                volumes=[root],
            ),
        )

    def _agent(
        self,
        name: str,
        group: Group,
        container: Container,
        privileges: Privileges,
        no_probes_reason: str,
        after: list[pulumi.Resource],
        init: Container | None = None,
    ) -> None:
        runtime = self._args.settings.runtime_class
        text = self._files[sharing.file_of(group.sharing)] if group.sharing else None
        NodeAgent(
            group.named(name),
            NodeAgentArgs(
                namespace=self._args.namespace,
                part_of=PART_OF,
                container=container,
                resources=self._args.settings.device_plugin.resources,
                affinity=group.affinity,
                tolerations=nodes.tolerations(self._args.pools, "nvidia"),
                privileges=privileges,
                runtime_class=runtime.name if runtime else None,
                no_probes_reason=no_probes_reason,
                init=init,
                pod_annotations=names.files_digest({"config": text}) if text else {},
            ),
            opts=self.child(depends_on=after),
        )

    def _config(self, group: Group) -> list[Volume]:
        return [sharing.volume(CONFIG)] if group.sharing else []
