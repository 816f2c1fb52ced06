from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from infra.errors import FlotillaError
from sandbox import processes
from sandbox.processes import Command, ProcessTable, last_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SLEEP = "import time; time.sleep(60)"


@pytest.fixture
def table(tmp_path: Path) -> Iterator[ProcessTable]:
    (tmp_path / "records").mkdir()
    (tmp_path / "logs").mkdir()
    created = ProcessTable(tmp_path, tmp_path / "records", tmp_path / "logs")
    yield created
    created.stop(created.names(), grace_seconds=1)
    created.stop_strays()


def command(program: str = SLEEP, *, ready: bool = True, **more: tuple[Path, ...]) -> Command:
    return Command(
        name="it",
        arguments=(sys.executable, "-S", "-c", program),
        port=None,
        ready=lambda: ready,
        environment={"PATH": os.defpath},
        **more,
    )


def nothing() -> None:
    return None


def gone(table: ProcessTable, pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        table.running("it")
        if not psutil.pid_exists(pid):
            return True
        time.sleep(0.02)
    return False


def test_started_process_is_recognised_by_another_table(table: ProcessTable, tmp_path: Path) -> None:
    record = table.start(command())
    again = ProcessTable(tmp_path, tmp_path / "records", tmp_path / "logs")
    assert again.running("it") == record


def test_process_is_recognised_from_the_first_moment(table: ProcessTable) -> None:
    for _ in range(20):
        table.start(command())
        assert table.running("it")
        table.stop(["it"], grace_seconds=1)


def test_stale_pid_of_another_process_is_not_ours(table: ProcessTable, tmp_path: Path) -> None:
    record = table.start(command())
    file = tmp_path / "records" / "it.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {"pid": os.getpid()}))
    assert table.running("it") is None
    table.stop(["it"])
    assert psutil.pid_exists(record.pid)


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"name": "it"}', '"text"'])
def test_damaged_record_is_no_process(table: ProcessTable, tmp_path: Path, content: str) -> None:
    (tmp_path / "records" / "it.json").write_text(content)
    assert table.running("it") is None


def test_stop_ends_a_process_that_ignores_the_polite_signal(table: ProcessTable) -> None:
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(60)"
    )
    record = table.start(command(stubborn))
    while "on" not in table.log("it").read_text():
        time.sleep(0.01)
    table.stop(["it"], grace_seconds=0.1)
    assert gone(table, record.pid)
    assert table.names() == []


def test_stop_ends_what_the_process_started(table: ProcessTable) -> None:
    parent = (
        f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-S', '-c', {SLEEP!r}]);"
        " print(child.pid, flush=True); child.wait()"
    )
    table.start(command(parent))
    while not (text := table.log("it").read_text()).strip():
        time.sleep(0.01)
    table.stop(["it"], grace_seconds=1)
    child = int(text)
    deadline = time.monotonic() + 10
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_process_without_a_record_is_ended_as_a_stray(table: ProcessTable, tmp_path: Path) -> None:
    record = table.start(command())
    (tmp_path / "records" / "it.json").unlink()
    table.stop_strays()
    assert gone(table, record.pid)


def test_process_that_ends_at_start_is_named_and_quoted(table: ProcessTable) -> None:
    dies = command("print('ready soon'); print('error: no such thing'); print('bye'); raise SystemExit(1)", ready=False)
    table.start(dies)
    with pytest.raises(FlotillaError, match="it ended while starting: error: no such thing"):
        table.wait_ready([dies], timeout_seconds=10, check=nothing)


def test_process_that_never_gets_ready_is_named(table: ProcessTable) -> None:
    slow = command(ready=False)
    table.start(slow)
    with pytest.raises(FlotillaError, match="it is not ready after 0 seconds"):
        table.wait_ready([slow], timeout_seconds=0.0, check=nothing)


def test_interruption_ends_the_wait(table: ProcessTable) -> None:
    slow = command(ready=False)
    table.start(slow)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        table.wait_ready([slow], timeout_seconds=10, check=interrupt)


def test_program_that_does_not_exist_is_a_clear_error(table: ProcessTable, tmp_path: Path) -> None:
    missing = Command(name="it", arguments=(str(tmp_path / "none"),), port=None, ready=lambda: True)
    with pytest.raises(FlotillaError, match="it cannot be run: No such file or directory"):
        table.start(missing)


def test_fingerprint_changes_with_arguments_and_inputs(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("a")
    before = command(inputs=(file,)).fingerprint()
    assert command(inputs=(file,)).fingerprint() == before
    assert command("other", inputs=(file,)).fingerprint() != before
    file.write_text("b")
    assert command(inputs=(file,)).fingerprint() != before


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", ""),
        ("one\ntwo\n\n", "two"),
        ("I0101 fine\nF1121 03:04:05.6 1 main.go:1] cannot listen\ngoroutine 1 [running]:\n", "cannot listen"),
        ("panic: broken\ngoroutine 1 [running]:\nmain.main()\n", "panic: broken"),
    ],
)
def test_last_words_prefer_what_went_wrong(tmp_path: Path, log: str, words: str) -> None:
    file = tmp_path / "log"
    file.write_text(log)
    assert last_words(file).endswith(words)


def test_last_words_of_a_missing_log_are_none(tmp_path: Path) -> None:
    assert last_words(tmp_path / "none") == ""


def test_long_log_is_put_aside_at_start(table: ProcessTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_LOG_LIMIT_BYTES", 3)
    table.log("it").write_text("long")
    table.start(command())
    assert table.log("it").with_suffix(".log.1").read_text() == "long"
