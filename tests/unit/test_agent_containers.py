"""Containers: what is reported of starts, ends and restarts, and when the next start is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sandbox.agent.containers import (
    Container,
    Running,
    Terminated,
    Waiting,
    exit_code,
    restart_delay,
    restored,
    should_restart,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FRESH = Container(name="main", image="app:1")


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_first_start_is_no_restart() -> None:
    assert FRESH.runs(NOW).restarts == 0


def test_killed_container_shows_exit_137_as_last_state_after_its_restart() -> None:
    status = FRESH.runs(NOW).ended(-9, after(2)).runs(after(3)).to_json()
    assert status["restartCount"] == 1
    assert status["lastState"]["terminated"]["exitCode"] == 137
    assert status["lastState"]["terminated"]["reason"] == "Error"
    assert status["state"] == {"running": {"startedAt": "2026-01-02T03:04:08Z"}}


def test_last_state_survives_waiting_for_the_next_start() -> None:
    waiting = FRESH.runs(NOW).ended(1, after(1)).waits("CrashLoopBackOff", "back-off")
    assert waiting.last is not None
    assert waiting.last.exit_code == 1
    assert waiting.runs(after(9)).restarts == 1


def test_waiting_for_configuration_is_no_restart() -> None:
    assert FRESH.waits("CreateContainerConfigError").runs(NOW).restarts == 0


@pytest.mark.parametrize(("crashes", "seconds"), [(0, 0), (1, 0), (2, 10), (3, 20), (4, 40), (7, 300), (99, 300)])
def test_delay_doubles_up_to_five_minutes(crashes: int, seconds: float) -> None:
    assert restart_delay(crashes) == seconds


def test_crashes_in_a_row_count_until_a_long_run_forgives_them() -> None:
    container = FRESH
    for start in range(3):
        container = container.runs(after(start)).ended(1, after(start))
    assert container.crashes == 3
    assert container.runs(NOW).ended(1, after(601)).crashes == 1


@pytest.mark.parametrize(
    ("policy", "code", "expected"),
    [
        ("Always", 0, True),
        ("Always", 1, True),
        ("OnFailure", 0, False),
        ("OnFailure", 2, True),
        ("Never", 0, False),
        ("Never", 2, False),
    ],
)
def test_policy_decides_about_the_restart(policy: str, code: int, *, expected: bool) -> None:
    assert should_restart(policy, code) is expected


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (3, 3), (-9, 137), (-15, 143)])
def test_signals_become_exit_codes_above_128(code: int, expected: int) -> None:
    assert exit_code(code) == expected


def test_state_comes_back_from_what_was_reported() -> None:
    container = FRESH.runs(NOW).ended(1, after(1)).runs(after(2))
    again = restored({"name": "main", "image": "app:1"}, container.to_json())
    assert again.state == Running(after(2))
    assert again.last == container.last
    assert again.restarts == 1


@pytest.mark.parametrize("state", [Waiting("CrashLoopBackOff", "back-off"), FRESH.runs(NOW).ended(0, after(1)).state])
def test_any_state_survives_being_reported(state: Waiting | Terminated) -> None:
    container = Container(name="main", image="app:1", state=state)
    assert restored({"name": "main", "image": "app:1"}, container.to_json()).state == state


def test_container_lost_with_its_agent_is_restarted_and_says_why() -> None:
    lost = FRESH.runs(NOW).lost(after(5))
    assert isinstance(lost.state, Terminated)
    assert (lost.state.reason, lost.state.exit_code) == ("ContainerStatusUnknown", 137)
    assert lost.runs(after(6)).restarts == 1
    assert FRESH.lost(NOW) is FRESH
