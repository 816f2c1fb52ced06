"""The node problem detector on NVIDIA's nodes: faults of GPUs in the kernel's messages become a condition."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_kubernetes as k8s

from infra import versions
from infra.components.cluster.gpu import nodes
from infra.core import names
from infra.core.component import Component
from infra.core.node_agent import NodeAgent, NodeAgentArgs
from infra.core.parts import (
    Container,
    FromField,
    Permissions,
    Privileges,
    Probe,
    Probes,
    Rule,
    Volume,
    health,
    metrics,
)

if TYPE_CHECKING:
    from infra.settings.models.gpu_health import NodeProblemDetector
    from infra.settings.models.node_pools import NodePool

NAME = "gpu-problem-detector"
CONFIG = f"{NAME}-config"
PART_OF = "cluster"
FILE = "gpu-monitor.json"
FOLDER = "/config"
SOURCE = "gpu-monitor"

FAULTS = {
    "GpuFellOffTheBus": (79,),
    "GpuMemoryFailed": (48, 64, 95, 140),
    "GpuStoppedProcessing": (46, 62),
    "GpuFirmwareFailed": (119, 120),
    "NvLinkFailed": (74,),
}
"""Numbers of NVIDIA's Xid messages after which a GPU needs a reset or a repair, by what they say.

Others, such as 13, 31, 43 and 45, are mostly faults of the program that used it.
Source: https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html.
"""


@dataclass(frozen=True, kw_only=True)
class GpuHealthArgs:
    """What the detector is declared from.

    Args:
        settings: its condition and resources.
        pools: the cluster's pools; it runs on those with NVIDIA's GPUs.
        namespace: where it runs; must admit privileged pods.
    """

    settings: NodeProblemDetector
    pools: Sequence[NodePool]
    namespace: pulumi.Input[str]


class GpuHealth(Component):
    """Runs the detector on every node with NVIDIA's GPUs. Owns neither taints nor repair: whoever makes nodes does.

    It reads nothing but the kernel's messages, so it works beside another detector and on a GPU that nobody can query
    any more. The condition stays until the node restarts.

    Source: https://github.com/kubernetes/node-problem-detector, v1.35.2, `deployment` and `config`.
    """

    group = "cluster"

    def __init__(self, name: str, args: GpuHealthArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        files = {FILE: json.dumps(monitor(args.settings.condition), indent=1)}
        config = k8s.core.v1.ConfigMap(
            CONFIG,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=CONFIG, namespace=args.namespace, labels=names.labels(NAME, part_of=PART_OF)
            ),
            data=files,
            opts=self.child(),
        )
        foreign = [pool.name for pool in args.pools if pool.machine.gpus and pool.machine.vendor != "nvidia"]
        probe = Probe(path="/healthz", port="http-health")
        NodeAgent(
            NAME,
            NodeAgentArgs(
                namespace=args.namespace,
                part_of=PART_OF,
                container=Container(
                    image=versions.NODE_PROBLEM_DETECTOR,
                    command=("/node-problem-detector",),
                    arguments=(
                        "--logtostderr",
                        f"--config.system-log-monitor={FOLDER}/{FILE}",
                        "--address=0.0.0.0",
                        "--port=20256",
                        "--prometheus-address=0.0.0.0",
                        "--prometheus-port=20257",
                    ),
                    environment={"NODE_NAME": FromField(path="spec.nodeName")},
                    probes=Probes(readiness=probe, liveness=probe),
                    ports=[metrics(20257), health(20256)],
                    volumes=[Volume(name="config", path=FOLDER, config_map=CONFIG)],
                ),
                resources=args.settings.resources,
                affinity=nodes.with_nvidia(but=sorted(foreign)),
                tolerations=nodes.tolerations(args.pools, "nvidia"),
                permissions=_PERMISSIONS,
                privileges=Privileges(
                    reason="Reads the kernel's messages, a device that only privileged containers may open.",
                    privileged=True,
                    capabilities=("SYSLOG",),
                    run_as_root=True,
                ),
                pod_annotations=names.files_digest(files),
            ),
            opts=self.child(depends_on=[config]),
        )
        self.register_outputs({})


def monitor(condition: str) -> dict[str, Any]:
    """Return what the detector looks for. A pattern has to reach the end of a message."""
    return {
        "plugin": "kmsg",
        "logPath": "/dev/kmsg",
        "lookback": "5m",
        "bufferSize": 10,
        "source": SOURCE,
        "metricsReporting": True,
        "conditions": [
            {"type": condition, "reason": "NoGpuProblem", "message": "the kernel reports no fault of a GPU"}
        ],
        "rules": [
            {
                "type": "permanent",
                "condition": condition,
                "reason": reason,
                "pattern": rf"NVRM: Xid \([^)]*\): ({'|'.join(str(number) for number in numbers)}),.*",
            }
            for reason, numbers in FAULTS.items()
        ],
    }


_PERMISSIONS = Permissions(
    cluster=(
        Rule(groups=("",), resources=("nodes",), verbs=("get",)),
        Rule(groups=("",), resources=("nodes/status",), verbs=("patch",)),
        Rule(groups=("", "events.k8s.io"), resources=("events",), verbs=("create", "patch", "update")),
    )
)
