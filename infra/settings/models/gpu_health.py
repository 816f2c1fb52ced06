"""Who notices that a GPU is broken."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.data.common import Installed
from infra.settings.models.resources import Resources
from infra.settings.scalars import Word

GPU_PROBLEM = "GpuProblem"


class Unwatched(Section):
    """Nobody tells the cluster."""

    kind: Literal["none"]
    """The device plugin withholds a GPU that reports an error; its node stays, and pods on it fail by themselves."""


class NodeMonitoringAgent(Section):
    """EKS' node monitoring agent."""

    kind: Literal["node-monitoring-agent"]
    """EKS' own agent, an add-on of the cluster: DCGM and the kernel's messages become the condition
    `AcceleratedHardwareReady`, by which Karpenter on AWS replaces nodes."""


class NodeProblemDetector(Section):
    """Kubernetes' node problem detector."""

    kind: Literal["node-problem-detector"]
    """Reads the kernel's messages on NVIDIA's nodes. An Xid after which the GPU needs a reset becomes a condition."""

    installed: Installed
    """`install` runs it; `present` where the platform does, with a condition for GPUs."""

    condition: Word = GPU_PROBLEM
    """Condition that is True from then on, and by which Cluster API replaces machines."""

    resources: Resources
    """Of the detector on each node. Only with `installed: install`."""


Health = Annotated[Unwatched | NodeMonitoringAgent | NodeProblemDetector, Field(discriminator="kind")]
