"""The cluster: zones, node pools, GPUs and storage."""

from __future__ import annotations

from typing import Annotated

from infra.settings.models.autoscaler import Autoscaler
from infra.settings.models.base import Section
from infra.settings.models.gpu import Gpu
from infra.settings.models.node_pools import NodePool
from infra.settings.models.storage.storage import Storage
from infra.settings.scalars import (
    NotEmpty,
    Word,
)


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
    """How accelerators are offered to pods."""

    storage: Storage
    """Volumes: storage classes, drivers, snapshots, and file systems that exist already."""
