"""The cluster: zones, node pools, GPUs and shared storage."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.resources import Resources
from infra.settings.models.storage import SharedStorage
from infra.settings.scalars import (
    Cpu,
    DnsLabel,
    DnsName,
    LabelKey,
    LabelValue,
    Memory,
    Natural,
    NotEmpty,
    Word,
)


class Taint(Section):
    """Keeps pods off a pool's nodes unless they tolerate it."""

    key: LabelKey
    """Key, such as `nvidia.com/gpu`."""

    value: LabelValue = ""
    """Value; empty by default."""

    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    """What happens to pods that do not tolerate it."""


class Machine(Section):
    """What one node of a pool offers."""

    cpu: Cpu
    """CPUs of the machine."""

    memory: Memory
    """Memory of the machine, in bytes."""

    gpus: Natural = 0
    """GPUs of the machine."""

    accelerator: LabelValue | None = None
    """Product name of the GPUs, as NVIDIA's feature discovery reports it: `NVIDIA-A100-SXM4-40GB`."""


class NodeCount(Section):
    """Between which numbers a pool scales, over all zones."""

    min: Natural
    """Nodes at rest."""

    max: Natural
    """Nodes under the highest load; bounds what the pool can cost."""


class NodePool(Section):
    """A set of like machines that scales between limits."""

    name: DnsLabel
    """Name of the pool; nodes carry it as a label."""

    purpose: Literal["system", "cpu", "gpu"]
    """What runs here: the platform's own workloads, teams' pods without GPUs, or teams' pods with GPUs."""

    instance_type: Word
    """Type of the machine, as the cloud or the inventory calls it."""

    machine: Machine
    """What one node offers."""

    zones: Annotated[tuple[Word, ...], NotEmpty()] | None = None
    """Zones the pool spans; all of the cluster's when left out."""

    nodes: NodeCount
    """How many nodes."""

    labels: dict[LabelKey, LabelValue] = Field(default={})
    """Labels of the nodes beside those that the cloud and Flotilla set."""

    taints: tuple[Taint, ...] = ()
    """Taints of the nodes."""

    capacity_type: Literal["on-demand", "spot"] = "on-demand"
    """How the machines are bought. Spot machines vanish within minutes: only for jobs that checkpoint."""


class NoAutoscaler(Section):
    """Pools have a fixed size."""

    kind: Literal["none"]
    """No autoscaler: every pool keeps its number of nodes."""


class NodeClass(Section):
    """The cloud's half of a Karpenter node pool, which holds images, subnets and roles."""

    group: DnsName
    """API group, such as `karpenter.k8s.aws`."""

    kind: Word
    """Kind, such as `EC2NodeClass`."""

    name: DnsName
    """Name of the object."""


class Karpenter(Section):
    """Karpenter makes and removes the machines of the cpu and gpu pools."""

    kind: Literal["karpenter"]
    """Karpenter, which runs on the system pool and so does not make that one's nodes."""

    node_class: NodeClass
    """Node class that all pools refer to; must exist in the cluster."""


Autoscaler = Annotated[NoAutoscaler | Karpenter, Field(discriminator="kind")]


class DevicePlugin(Section):
    """NVIDIA's device plugin, which makes GPUs schedulable."""

    enabled: bool
    """Whether Flotilla runs it; turn it off where the cloud or the GPU operator does already."""

    mig_strategy: Literal["none", "single", "mixed"]
    """How partitioned GPUs are offered: not at all, all alike as `nvidia.com/gpu`, or each by its profile."""

    fail_on_init_error: bool
    """Whether the plugin fails on a node whose driver is not ready, rather than wait."""

    resources: Resources
    """Of the plugin on each GPU node."""


class Gpu(Section):
    """How GPUs are offered to pods."""

    device_plugin: DevicePlugin
    """NVIDIA's device plugin."""

    runtime_class: DnsLabel | None
    """RuntimeClass that the device plugin runs under; null where the nodes' default runtime knows GPUs."""


class Cluster(Section):
    """The cluster an environment runs on."""

    region: Word
    """Region, as nodes are labelled with."""

    zones: Annotated[tuple[Word, ...], NotEmpty()]
    """Zones that replicas are spread over; three let a quorum survive the loss of one."""

    node_pools: Annotated[tuple[NodePool, ...], NotEmpty()]
    """Sets of machines; at least one with `purpose: system`."""

    autoscaler: Autoscaler
    """Who makes and removes nodes."""

    gpu: Gpu
    """How GPUs are offered to pods."""

    shared_storage: SharedStorage
    """The class of volumes that many pods mount at once."""
