"""Topologies: how a pool's machines are wired, so that the pods of one job lie close together."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.scalars import DnsLabel, LabelKey, NotEmpty, Noun

Level = Annotated[Literal["zone", "block", "subblock", "rack", "nvlink"], Noun("part of a data centre")]
"""A part of a data centre whose machines are closer to one another than to others."""


class LevelLabels(Section):
    """Labels that tell of each node where it stands, other than those that `labelledBy` stands for."""

    block: LabelKey | None = None
    """Label with the node's block."""

    subblock: LabelKey | None = None
    """Label with the node's part of a block."""

    rack: LabelKey | None = None
    """Label with the node's rack, or what comes closest to it."""

    nvlink: LabelKey | None = None
    """Label with the node's NVLink domain; that of the pools' `fabric` when left out."""


class Topology(Section):
    """How the machines of some pools are wired. Kueue counts free machines by it, and places a job's pods."""

    name: DnsLabel
    """Name of the topology."""

    pools: Annotated[tuple[DnsLabel, ...], NotEmpty()]
    """Pools whose machines stand so. They have a fixed size: Kueue places pods on nodes that exist."""

    levels: Annotated[tuple[Level, ...], NotEmpty()]
    """From the largest to the smallest, of `zone`, `block`, `subblock`, `rack` and `nvlink` (machines that share an
    NVLink domain). The single machine is always the last level."""

    labelled_by: Literal["own", "aws", "google"] = "own"
    """Who sets the labels. `own`: whoever made the nodes, as `flotilla.dev/block`, `/subblock` and `/rack`. `aws`:
    Amazon, as `topology.k8s.aws/network-node-layer-1` to `-3`. `google`: Google, as
    `cloud.google.com/gce-topology-block` and `-subblock`."""

    labels: LevelLabels = Field(default=LevelLabels())
    """Labels where they differ, such as those of NVIDIA's Topograph."""
