"""How a workload survives losing a pod, a node or a zone."""

from __future__ import annotations

from dataclasses import dataclass

MINIMUM = 2
"""Fewest replicas that survive losing one."""


@dataclass(frozen=True, kw_only=True)
class Replicated:
    """Every replica serves. Between `replicas` and `up_to` on CPU load when `up_to` is given.

    Args:
        replicas: how many at least; 2 or more.
        up_to: how many at most; None keeps `replicas` fixed.
        target_cpu_percent: average CPU use, in percent of requests, that scaling aims for.

    Raises:
        ValueError: fewer than two replicas, or a ceiling below the floor.
    """

    replicas: int
    up_to: int | None = None
    target_cpu_percent: int = 80

    def __post_init__(self) -> None:
        _at_least_two(self.replicas)
        if self.up_to is not None and self.up_to < self.replicas:
            raise ValueError(f"at most {self.up_to} replicas is below the floor of {self.replicas}")


@dataclass(frozen=True, kw_only=True)
class LeaderElected:
    """One replica works, the others stand by and take over through a Lease.

    Args:
        replicas: how many; 2 or more.
        arguments: what turns leader election on, appended to the container's arguments.
        lease: the Lease's name; the workload is permitted to hold just that one.

    Raises:
        ValueError: fewer than two replicas.
    """

    replicas: int
    arguments: tuple[str, ...]
    lease: str

    def __post_init__(self) -> None:
        _at_least_two(self.replicas)


@dataclass(frozen=True, kw_only=True)
class Singleton:
    """Exactly one replica, replaced rather than rolled, because two would do harm.

    Args:
        reason: what a second replica would break; shown to reviewers and kept on the object.

    Raises:
        ValueError: no reason.
    """

    reason: str

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("a single replica needs a reason")


Availability = Replicated | LeaderElected | Singleton


def describe(availability: Availability) -> str:
    """Return the availability in words, as kept in the annotation and shown in summaries."""
    match availability:
        case Replicated(replicas=floor, up_to=None):
            return f"replicated {floor}"
        case Replicated(replicas=floor, up_to=ceiling):
            return f"replicated {floor}-{ceiling}"
        case LeaderElected(replicas=count):
            return f"leader-elected {count}"
        case Singleton():
            return "singleton"


def _at_least_two(replicas: int) -> None:
    if replicas < MINIMUM:
        raise ValueError(f"{replicas} replica is not highly available; use Singleton(reason=...) to run one")
