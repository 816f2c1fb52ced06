from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

import pytest

from infra.errors import FlotillaError
from sandbox import ports

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_ports_are_different_and_remembered(tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    first = ports.allocate(file, ["a", "b", "c"])
    assert len(set(first.values())) == 3
    assert ports.allocate(file, ["a", "b", "c"]) == first


def test_new_name_gets_a_port_and_others_keep_theirs(tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    first = ports.allocate(file, ["a"])
    assert ports.allocate(file, ["a", "b"])["a"] == first["a"]


def test_port_in_use_names_port_owner_and_remedy(tmp_path: Path, taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_PATIENCE_SECONDS", 0.0)
    file = tmp_path / "ports.json"
    file.write_text(json.dumps({"api": taken}))
    with pytest.raises(FlotillaError) as caught:
        ports.allocate(file, ["api"])
    message = str(caught.value)
    assert f"port {taken} of api is in use" in message
    assert "(pid " in message
    assert "--new-ports" in message


def test_port_of_our_own_running_process_is_no_conflict(tmp_path: Path, taken: int) -> None:
    file = tmp_path / "ports.json"
    file.write_text(json.dumps({"api": taken}))
    assert ports.allocate(file, ["api"], in_use_by_us={"api"}) == {"api": taken}


@pytest.mark.parametrize("content", ["", "[]", '{"api": "x"}', "{"])
def test_damaged_memory_is_forgotten(tmp_path: Path, content: str) -> None:
    file = tmp_path / "ports.json"
    file.write_text(content)
    assert set(ports.allocate(file, ["api"])) == {"api"}
