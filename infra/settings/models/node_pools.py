"""Node pools: which machines there are, how many, how they are bought, joined and given back."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.scalars import (
    Cpu,
    DnsLabel,
    LabelKey,
    LabelValue,
    Memory,
    Natural,
    NotEmpty,
    Noun,
    Positive,
    Text,
    Word,
)

_SPAN = r"([0-9]+(s|m|h))+"

Span = Annotated[str, Text(_SPAN, 32, "span of time", "Write one such as 90s, 10m or 1h30m")]
"""Span of time."""

Age = Annotated[str, Text(rf"Never|{_SPAN}", 32, "age", "Write a span such as 720h, or Never")]
"""Span of time, or none."""

Window = Annotated[str, Text(r"[0-9]+h([0-9]+m)?|[0-9]+m", 16, "number of hours and minutes", "Write one such as 8h")]
"""Span of whole minutes."""

Share = Annotated[str, Text(r"[0-9]{1,4}|100%|[0-9]{1,2}%", 4, "number or share", 'Write one such as "2" or "10%"')]
"""Number of nodes, or their share of a pool."""

Cron = Annotated[
    str,
    Text(r"[-0-9*/,A-Za-z]+( [-0-9*/,A-Za-z]+){4}", 100, "schedule", 'Write five fields, such as "0 22 * * 1-5"'),
]
"""Points in time, as cron writes them, in UTC."""


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
    """GPUs of the machine, or other accelerators."""

    vendor: Literal["nvidia", "amd", "neuron"] = "nvidia"
    """Who makes them: NVIDIA, AMD, or AWS (Inferentia and Trainium). Decides what pods request and what runs here."""

    accelerator: LabelValue | None = None
    """Product name of the GPUs, as NVIDIA's feature discovery reports it: `NVIDIA-A100-SXM4-40GB`."""


class NodeCount(Section):
    """Between which numbers a pool scales, over all zones."""

    min: Natural
    """Nodes at rest."""

    max: Natural
    """Nodes under the highest load; bounds what the pool can cost."""


class Disk(Section):
    """The disk a node starts from; images, logs and scratch files lie on it."""

    size: Memory
    """Size, in bytes."""

    type: Word | None = None
    """Type, as the cloud calls it: `gp3`, `pd-balanced`. The cloud's default when left out."""

    iops: Positive | None = None
    """Operations a second, where the type lets one choose."""

    throughput: Positive | None = None
    """Mebibytes a second, where the type lets one choose."""


class InOneZone(Section):
    """All nodes in one zone."""

    within: Literal["zone"]
    """One zone, which has to be the only one in the pool's `zones`: an autoscaler chooses a zone for each node."""


class InOneGroup(Section):
    """All nodes close together in one data centre."""

    within: Literal["group"]
    """A cluster placement group (AWS) or a compact placement policy (Google Cloud)."""

    name: Word
    """Name of the group or policy; it exists already."""


class InOneRack(Section):
    """All nodes in one rack."""

    within: Literal["rack"]
    """One rack. Where machines are made by a cloud, nobody can choose it."""

    name: LabelValue
    """Name of the rack, which the nodes get as a label."""


Placement = Annotated[InOneZone | InOneGroup | InOneRack, Field(discriminator="within")]


class Efa(Section):
    """Elastic Fabric Adapters, by which machines on AWS reach each other past the kernel."""

    kind: Literal["efa"]
    """Elastic Fabric Adapters; their device plugin comes with the cluster."""

    interfaces: Positive
    """Adapters of a machine, which pods ask for as `vpc.amazonaws.com/efa`."""


class Rdma(Section):
    """InfiniBand, or RDMA over Ethernet."""

    kind: Literal["rdma"]
    """InfiniBand, or RDMA over Ethernet; its device plugin comes with the cluster."""

    resource: LabelKey = "rdma/hca"
    """What the device plugin calls a device, and pods ask for."""

    devices: Positive
    """Devices of a machine."""


class NvLink(Section):
    """Machines joined by NVLink switches, such as GB200 racks."""

    kind: Literal["nvlink"]
    """NVLink beyond one machine."""

    domain: LabelKey = "nvidia.com/gpu.clique"
    """Label that tells which nodes share a domain; NVIDIA's feature discovery sets this one."""


Fabric = Annotated[Efa | Rdma | NvLink, Field(discriminator="kind")]


class Budget(Section):
    """How many nodes of a pool may be taken away at once."""

    nodes: Share
    """Number of nodes or share of the pool, as a text: `"2"`, `"10%"`, `"0"`."""

    reasons: tuple[Literal["Empty", "Underutilized", "Drifted"], ...] = ()
    """What it is about; all when left out."""

    schedule: Cron | None = None
    """When it begins to hold, in UTC; always when left out."""

    duration: Window | None = None
    """How long it holds from then on; only with `schedule`."""


class Disruption(Section):
    """When nodes are taken away again."""

    consolidate: Literal["empty", "underutilized"] | None = None
    """Take away empty nodes only, or also those whose pods fit elsewhere. Left out: `empty` for gpu pools, because
    a moved training pod loses its work since the last checkpoint, `underutilized` for others."""

    after: Span = "5m"
    """How long a node has to stay so before it is taken away."""

    budgets: tuple[Budget, ...] = ()
    """Left out: any number of empty nodes, and of others one at a time in gpu pools, a tenth in cpu pools. Nodes of gpu
    pools with a grace period, all of spot machines among them, are not replaced for their image while they are used:
    a grace period ends even pods that ask not to be disrupted."""

    expire_after: Age | None = None
    """Age at which nodes are replaced. Left out: `Never` for gpu pools, `720h` for others, for fresh images."""

    grace_period: Span | None = None
    """How long pods of a node that has to go have to end, whatever they ask for; longer ones are cut short. It has to
    fit the notice of spot machines. Left out: of spot machines all that the notice leaves, of others without limit."""


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
    """Zones the pool spans; all of the cluster's when left out. A zone without machines is passed over."""

    nodes: NodeCount
    """How many nodes."""

    labels: dict[LabelKey, LabelValue] = Field(default={})
    """Labels of the nodes beside those that the cloud and Flotilla set."""

    taints: tuple[Taint, ...] = ()
    """Taints of the nodes."""

    capacity_type: Annotated[Literal["on-demand", "spot", "spot-or-on-demand"], Noun("way of buying")] = "on-demand"
    """How the machines are bought. Spot machines vanish within minutes: only for jobs that checkpoint.
    `spot-or-on-demand` takes spot machines while there are any, and others when not."""

    disk: Disk | None = None
    """The disk a node starts from; what the image brings when left out."""

    placement: Placement | None = None
    """How close together the nodes are; anywhere in the pool's zones when left out."""

    fabric: Fabric | None = None
    """What joins the machines besides Ethernet."""

    disruption: Disruption = Disruption()
    """When nodes are taken away again."""
