"""Teams: a namespace each, with quota, limits and access."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.storage.scalars import AccessMode
from infra.settings.scalars import Cpu, DnsLabel, DnsName, EmailAddress, LabelKey, Memory, Natural, Positive


class Member(Section):
    """A person's access to a team's namespace."""

    name: EmailAddress
    """Email address, as the identity provider reports it."""

    role: Literal["admin", "edit", "view"]
    """`admin` also manages members, `edit` runs jobs and notebooks, `view` only looks."""


class Quota(Section):
    """What all pods of a team may ask for together."""

    cpu: Cpu
    """CPUs requested by all pods together."""

    memory: Memory
    """Memory requested by all pods together, in bytes."""

    gpus: Natural
    """NVIDIA's whole GPUs of all pods together; 0 keeps the team off them."""

    devices: dict[LabelKey, Natural] = Field(default={})
    """Other accelerators and parts of GPUs of all pods together, by resource, such as `nvidia.com/gpu.shared: 8` or
    `amd.com/gpu: 4`; 0 of each that is left out."""

    pods: Positive
    """Pods at a time; protects the API server and the address space of the cluster."""

    shared_storage: Memory
    """Shared storage claimed by the team, in bytes."""


class Amount(Section):
    """CPUs and memory of one container."""

    cpu: Cpu
    """CPUs of one container."""

    memory: Memory
    """Memory of one container, in bytes."""


class DefaultLimit(Section):
    """Limit of a container that names none. CPU has no default: it would refuse any larger request."""

    memory: Memory
    """Memory of one container, in bytes."""


class ContainerLimits(Section):
    """What containers that say nothing get, and what none may exceed."""

    default_request: Amount
    """Set aside for a container that requests nothing; small, so that forgotten requests spare the quota."""

    default: DefaultLimit
    """Most that a container without a limit of its own may use; of CPU it may use `max`."""

    max: Amount
    """Most that any container may be given; a machine of the largest pool must be able to hold it."""


class TeamVolume(Section):
    """A volume of a team, as a claim in its namespace that jobs and notebooks mount."""

    name: DnsLabel
    """Name of the claim. Renaming makes a new, empty one."""

    purpose: Literal["checkpoints", "data", "scratch"]
    """What it is for: `checkpoints` and `data` go to the shared class, `scratch` to the scratch class."""

    size: Memory
    """Size, in bytes; may grow where the driver grows volumes, and never shrinks."""

    storage_class: DnsName | None = None
    """Class to use instead of the purpose's."""

    access_mode: AccessMode = "ReadWriteMany"
    """Who may mount it at a time. Checkpoints need `ReadWriteMany`: a job's pods are on many nodes."""


class PoolShare(Section):
    """A team's accelerators of one pool."""

    pool: DnsLabel
    """Name of the pool."""

    devices: dict[LabelKey, Natural]
    """How many of the team's quota lie on it, by resource, such as `nvidia.com/gpu: 24`."""


class Team(Section):
    """A team: a Profile namespace with quota, limits, access and shared storage."""

    name: DnsLabel
    """Name of the team and of its namespace. Renaming makes a new namespace and deletes the old one."""

    owner: EmailAddress
    """Who answers for the team; administers its namespace."""

    members: tuple[Member, ...] = ()
    """Everybody else with access; the owner needs no entry."""

    quota: Quota
    """What all pods of the team may ask for together."""

    limits: ContainerLimits
    """Bounds of a single container."""

    shares: tuple[PoolShare, ...] = ()
    """How many of its accelerators the team is guaranteed on which pool; the rest goes by the pools' sizes. Only with
    `scheduling.queues`."""

    priorities: tuple[Literal["serving", "training", "batch"], ...] = ("serving", "training", "batch")
    """PriorityClasses, as `flotilla-<word>`, that the team's pods may name: `serving` ends `training` and `batch`
    pods of every team where nodes run short, `training` ends `batch`. Pods that name none rank below all."""

    volumes: tuple[TeamVolume, ...] = ()
    """Volumes the team starts with, checkpoints of its training jobs among them."""
