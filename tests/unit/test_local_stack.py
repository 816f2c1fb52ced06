"""The local stack's lock: one that a killed engine left is removed, a live one is respected."""

from __future__ import annotations

import json
import os
import socket
from typing import TYPE_CHECKING

import psutil
import pytest

from infra.errors import FlotillaError
from ops import local_stack

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(local_stack, "LOCKS", tmp_path)
    (tmp_path / "local").mkdir()
    return tmp_path / "local"


def lock(folder: Path, *, pid: int, host: str | None = None) -> Path:
    path = folder / f"{pid}.json"
    path.write_text(json.dumps({"pid": pid, "username": "ada", "hostname": host or socket.gethostname()}))
    return path


def test_lock_of_an_ended_engine_is_removed(locks: Path) -> None:
    left = lock(locks, pid=2**22 + 1)

    local_stack.release_lost_lock("local")

    assert not left.exists()


def test_lock_whose_number_another_program_has_now_is_removed(locks: Path) -> None:
    left = lock(locks, pid=os.getpid())

    local_stack.release_lost_lock("local")

    assert not left.exists()


@pytest.mark.parametrize("here", [True, False], ids=["of a running engine", "of another machine"])
def test_lock_that_may_be_held_is_respected(locks: Path, monkeypatch: pytest.MonkeyPatch, *, here: bool) -> None:
    monkeypatch.setattr(local_stack, "ENGINE", psutil.Process().name())
    held = lock(locks, pid=os.getpid(), host=None if here else "elsewhere")

    with pytest.raises(FlotillaError, match=f"another pulumi works on it: process {os.getpid()} of ada"):
        local_stack.release_lost_lock("local")

    assert held.exists()


def test_stack_without_locks_is_left_alone(locks: Path) -> None:
    local_stack.release_lost_lock("local")

    assert list(locks.iterdir()) == []
