"""NVIDIA's DCGM exporter, which measures GPUs for Prometheus and tells which pod uses each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from infra import versions
from infra.components.cluster.gpu import nodes
from infra.core.component import Component
from infra.core.node_agent import NodeAgent, NodeAgentArgs
from infra.core.parts import Container, FromField, Privileges, Probe, Probes, Volume, metrics

if TYPE_CHECKING:
    from infra.settings.models.gpu import Nvidia
    from infra.settings.models.node_pools import NodePool

NAME = "dcgm-exporter"
PART_OF = "cluster"
PORT = 9400
STARTS_WITHIN_SECONDS = 45
"""How long the exporter takes to find a node's GPUs and start its engine."""


@dataclass(frozen=True, kw_only=True)
class DcgmExporterArgs:
    """What the exporter is declared from.

    Args:
        settings: how NVIDIA's GPUs are offered to pods.
        pools: the cluster's pools; it runs on those with NVIDIA's GPUs.
        namespace: where it runs; must admit privileged pods.
    """

    settings: Nvidia
    pools: Sequence[NodePool]
    namespace: pulumi.Input[str]


class DcgmExporter(Component):
    """Runs the exporter on every node with NVIDIA's GPUs. Owns neither dashboards nor alerts.

    Source: https://github.com/NVIDIA/dcgm-exporter, release 4.5.3-4.8.2, `deployment/templates/daemonset.yaml`.
    """

    group = "cluster"

    def __init__(self, name: str, args: DcgmExporterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        nvidia = args.settings
        health = Probe(path="/health", port="http-metrics", delay_seconds=STARTS_WITHIN_SECONDS)
        foreign = [pool.name for pool in args.pools if pool.machine.gpus and pool.machine.vendor != "nvidia"]
        NodeAgent(
            NAME,
            NodeAgentArgs(
                namespace=args.namespace,
                part_of=PART_OF,
                container=Container(
                    image=versions.DCGM_EXPORTER,
                    probes=Probes(readiness=health, liveness=health),
                    environment={
                        "DCGM_EXPORTER_LISTEN": f":{PORT}",
                        "DCGM_EXPORTER_KUBERNETES": "true",
                        "NODE_NAME": FromField(path="spec.nodeName"),
                    },
                    ports=[metrics(PORT)],
                    volumes=[
                        Volume(
                            name="pod-resources",
                            path="/var/lib/kubelet/pod-resources",
                            host_path="/var/lib/kubelet/pod-resources",
                        )
                    ],
                    writable_root=True,
                ),
                resources=nvidia.dcgm_exporter.resources,
                affinity=nodes.with_nvidia(but=sorted(foreign)),
                tolerations=nodes.tolerations(args.pools, "nvidia"),
                privileges=Privileges(
                    reason="Reads profiling counters of the GPUs and the kubelet's socket that tells whose they are.",
                    run_as_root=True,
                    capabilities=("SYS_ADMIN",),
                ),
                runtime_class=nvidia.runtime_class.name if nvidia.runtime_class else None,
            ),
            opts=self.child(),
        )
        self.register_outputs({})
