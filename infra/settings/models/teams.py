"""Teams: a namespace each, with quota, limits and access."""

from __future__ import annotations

from typing import Literal

from infra.settings.models.base import Section
from infra.settings.scalars import Cpu, DnsLabel, EmailAddress, Memory, Natural, Positive


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
    """GPUs of all pods together; 0 keeps the team off the GPU pools."""

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
