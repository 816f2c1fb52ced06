"""Accelerators: who brings what makes them schedulable, and how GPUs are shared."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.data.common import Installed
from infra.settings.models.gpu_health import Health, Unwatched
from infra.settings.models.resources import Resources
from infra.settings.scalars import DnsLabel, NotEmpty, Noun, Text

MOST_REPLICAS = 64
MOST_MPS_CLIENTS = 48
"""Programs that may use one GPU at once through MPS up to CUDA 13.0; later versions take 60.

Source: https://docs.nvidia.com/deploy/mps, "Client-Server Connection Limits".
"""

MigProfile = Annotated[
    str,
    Text(
        r"[1-7]g\.[0-9]{1,3}gb(\+me|\+me\.all|-me|\+gfx)?",
        20,
        "MIG profile",
        "Write one such as 1g.5gb, as `nvidia-smi mig -lgip` lists them",
    ),
]
"""A part of a GPU: so many of its smallest slices, and its memory."""


DriverVersion = Annotated[
    str,
    Text(r"[1-9][0-9]{2}(\.[0-9]{1,3}){0,2}", 12, "version of a driver", 'Write one quoted, such as "580.65"'),
]
"""Version of NVIDIA's driver, or how it begins."""


class DevicePlugin(Section):
    """A device plugin, which makes a node's accelerators schedulable."""

    installed: Installed
    """`install` runs it on the vendor's pools; `present` where the cloud or the vendor's operator does already."""

    resources: Resources
    """Of the plugin on each node."""


class NvidiaDevicePlugin(DevicePlugin):
    """NVIDIA's device plugin."""

    fail_on_init_error: bool
    """Whether the plugin fails on a node whose driver is not ready, rather than wait."""


class FeatureDiscovery(Section):
    """NVIDIA's GPU feature discovery, which labels nodes with the product, memory and driver of their GPUs."""

    installed: Installed
    """`install` runs it on the NVIDIA pools; `present` where NVIDIA's operator does already."""

    node_feature_discovery: Installed
    """Who runs node feature discovery, which turns what is found into labels: its chart, or the platform."""

    resources: Resources
    """Of the discovery on each node."""


class DcgmExporter(Section):
    """NVIDIA's DCGM exporter: use, temperature, errors and bandwidth of each GPU, for Prometheus."""

    installed: Installed
    """`install` runs it on the NVIDIA pools; `present` where NVIDIA's operator does already."""

    resources: Resources
    """Of the exporter on each node; memory grows with the number of GPUs."""


class RuntimeClass(Section):
    """The RuntimeClass of containers that use GPUs."""

    name: DnsLabel = "nvidia"
    """Name of the class, as pods give it."""

    handler: DnsLabel = "nvidia"
    """Name of the runtime in the configuration of the nodes' container engine."""

    installed: Installed = "install"
    """`install` makes the object; `present` where the platform has made it."""


class Slice(Section):
    """Parts of one GPU that are alike."""

    profile: MigProfile
    """Their size."""

    count: Annotated[int, Field(ge=1, le=7), Noun("whole number, 1 to 7")]
    """How many of them each GPU is cut into."""

    @property
    def resource(self) -> str:
        """The profile as resources spell it: '+' is no letter of theirs."""
        return self.profile.replace("+", ".")


class SharedPools(Section):
    """What all ways of sharing GPUs have in common."""

    name: DnsLabel
    """Name of this way of sharing; ends the name of the plugin that serves it."""

    pools: Annotated[tuple[DnsLabel, ...], NotEmpty()]
    """Node pools whose GPUs are shared so."""


class Mig(SharedPools):
    """GPUs cut into parts with memory and compute units of their own; the machine's image does the cutting."""

    kind: Literal["mig"]
    """Parts of the hardware, which cannot disturb each other. For A100, H100 and their like."""

    strategy: Literal["single", "mixed"]
    """`single` offers parts, all alike, as `nvidia.com/gpu`; `mixed` offers each as `nvidia.com/mig-<profile>`."""

    slices: Annotated[tuple[Slice, ...], NotEmpty()]
    """What each GPU is cut into; it has to be what the image does."""


class Replicated(SharedPools):
    """What ways of sharing have in common that leave the GPU whole."""

    rename: bool = True
    """Whether parts are offered as `nvidia.com/gpu.shared`, so that none passes for a whole GPU. Autoscalers know only
    `nvidia.com/gpu`, and make nodes for no other name."""


class TimeSlicing(Replicated):
    """Pods take turns on a GPU, without protection of its memory from one another."""

    kind: Literal["time-slicing"]
    """Turns, for notebooks and light inference of people who trust each other."""

    replicas: Annotated[int, Field(ge=2, le=MOST_REPLICAS), Noun(f"whole number, 2 to {MOST_REPLICAS}")]
    """How many pods share a GPU; each requests one part."""


class Mps(Replicated):
    """Pods use a GPU at the same time through NVIDIA's Multi-Process Service, each with a share of its memory."""

    kind: Literal["mps"]
    """Shares of compute and memory, enforced by a daemon on the node; a crash of one may end all on that GPU."""

    replicas: Annotated[int, Field(ge=2, le=MOST_MPS_CLIENTS), Noun(f"whole number, 2 to {MOST_MPS_CLIENTS}")]
    """How many pods share a GPU; each requests one part and gets an equal share."""


Sharing = Annotated[Mig | TimeSlicing | Mps, Field(discriminator="kind")]


class Nvidia(Section):
    """NVIDIA's GPUs."""

    device_plugin: NvidiaDevicePlugin
    """What makes GPUs schedulable."""

    feature_discovery: FeatureDiscovery
    """What labels nodes with their GPUs."""

    dcgm_exporter: DcgmExporter
    """What measures GPUs."""

    runtime_class: RuntimeClass | None
    """RuntimeClass that NVIDIA's agents run under; null where the nodes' default runtime knows GPUs."""

    oldest_driver: DriverVersion | None = None
    """Oldest driver that teams' images run with: "525.60" for CUDA 12, "580.65" for CUDA 13. Node images bring drivers;
    `flotilla doctor` names the nodes with an older one."""

    sharing: tuple[Sharing, ...] = ()
    """Pools whose GPUs several pods share; in others, each GPU belongs to one pod at a time."""

    health: Health = Unwatched(kind="none")
    """Who notices that a GPU is broken. `cluster.autoscaler` says whether its machine is replaced then."""


class Amd(Section):
    """AMD's GPUs, which pods request as `amd.com/gpu`."""

    device_plugin: DevicePlugin
    """What makes GPUs schedulable."""


class Neuron(Section):
    """AWS' Inferentia and Trainium, which pods request as `aws.amazon.com/neuron`."""

    device_plugin: DevicePlugin
    """What makes devices schedulable."""


class Gpu(Section):
    """How accelerators are offered to pods; each vendor's agents run where a pool's `machine.vendor` names it."""

    nvidia: Nvidia
    """NVIDIA's GPUs."""

    amd: Amd
    """AMD's GPUs."""

    neuron: Neuron
    """AWS' Inferentia and Trainium."""
