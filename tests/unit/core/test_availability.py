"""What an availability accepts, refuses, and is called."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from infra.core.availability import Availability, LeaderElected, Replicated, Singleton, describe


def elected(replicas: int) -> LeaderElected:
    return LeaderElected(replicas=replicas, arguments=("--leader-elect",), lease="boat")


@pytest.mark.parametrize("replicas", [1, 0, -1])
def test_replicated_refuses_fewer_than_two(replicas: int) -> None:
    with pytest.raises(ValueError, match=rf"^{replicas} replica is not highly available; use Singleton\(reason=...\)"):
        Replicated(replicas=replicas)


@pytest.mark.parametrize("replicas", [1, 0, -1])
def test_leader_elected_refuses_fewer_than_two(replicas: int) -> None:
    with pytest.raises(ValueError, match="not highly available"):
        elected(replicas)


def test_replicated_refuses_a_ceiling_below_its_floor() -> None:
    with pytest.raises(ValueError, match=r"^at most 2 replicas is below the floor of 3$"):
        Replicated(replicas=3, up_to=2)


def test_replicated_accepts_a_ceiling_at_its_floor() -> None:
    assert Replicated(replicas=3, up_to=3).up_to == 3


@pytest.mark.parametrize("reason", ["", " ", "\n\t"])
def test_singleton_refuses_to_go_without_a_reason(reason: str) -> None:
    with pytest.raises(ValueError, match=r"^a single replica needs a reason$"):
        Singleton(reason=reason)


def test_availability_cannot_be_changed_past_its_checks() -> None:
    availability = Replicated(replicas=2)

    with pytest.raises(FrozenInstanceError):
        availability.replicas = 1  # pyright: ignore[reportAttributeAccessIssue] - what is tested


@pytest.mark.parametrize(
    ("availability", "words"),
    [
        (Replicated(replicas=2), "replicated 2"),
        (Replicated(replicas=2, up_to=5), "replicated 2-5"),
        (elected(3), "leader-elected 3"),
        (Singleton(reason="two would write the same row"), "singleton"),
    ],
)
def test_description_is_frozen(availability: Availability, words: str) -> None:
    assert describe(availability) == words
