from __future__ import annotations

import errno
import os
import signal
import stat
import threading
from typing import TYPE_CHECKING

import pytest

from infra.errors import FlotillaError
from sandbox import logs
from sandbox.cluster import Sandbox
from sandbox.files import exclusive, require_space, storage_errors, write_private
from sandbox.interrupts import deferred
from sandbox.layout import Layout

if TYPE_CHECKING:
    from pathlib import Path


def test_private_file_is_written_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert write_private(file, "content")
    assert not write_private(file, "content")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_full_disk_and_refusals_are_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(FlotillaError, match="the disk is full"), storage_errors(tmp_path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "file"))
    with pytest.raises(FlotillaError, match="cannot be written: Read-only file system"), storage_errors(tmp_path):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def test_lack_of_space_is_found_before_anything_starts(tmp_path: Path) -> None:
    require_space(tmp_path, 0)
    with pytest.raises(FlotillaError, match="the sandbox needs 1000000000 MiB"):
        require_space(tmp_path, 10**9)


def test_signal_waits_for_a_safe_moment() -> None:
    before = signal.getsignal(signal.SIGINT)
    with deferred() as check:
        check()
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            check()
    assert signal.getsignal(signal.SIGINT) is before


def test_signals_stay_as_they_are_outside_the_main_thread() -> None:
    handlers: list[object] = []

    def work() -> None:
        with deferred() as check:
            check()
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    before = signal.getsignal(signal.SIGTERM)
    thread.start()
    thread.join()
    assert handlers == [before]


def test_socket_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    layout = Layout(tmp_path / "state")
    (tmp_path / "elsewhere").mkdir()
    layout.runtime.symlink_to(tmp_path / "elsewhere")
    try:
        with pytest.raises(FlotillaError, match="belongs to somebody else"):
            layout.create()
    finally:
        layout.runtime.unlink()


def test_folder_with_other_content_is_neither_used_nor_removed(tmp_path: Path) -> None:
    (tmp_path / "pulumi").mkdir()
    (tmp_path / "pulumi" / "state").touch()
    sandbox = Sandbox("pulumi", tmp_path / "pulumi", tools=tmp_path)
    for act in (lambda: sandbox.up([]), sandbox.down):
        with pytest.raises(FlotillaError, match="is not a sandbox's folder"):
            act()
    assert (tmp_path / "pulumi" / "state").exists()


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "-a"])
def test_name_that_could_leave_the_state_folder_is_refused(name: str) -> None:
    with pytest.raises(FlotillaError, match="not a name"):
        Sandbox(name)


def test_second_program_waits_for_the_first_and_says_so(tmp_path: Path) -> None:
    def second() -> None:
        with exclusive(tmp_path / "lock", timeout_seconds=0.05):
            raise AssertionError

    with exclusive(tmp_path / "lock"), pytest.raises(FlotillaError, match="another command is changing"):
        second()


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path)
    made.logs.mkdir()
    (made.logs / "etcd.log").write_text("one\ntwo\nthree\n")
    for container in ("main", "side"):
        (made.pods / "team_job-0").mkdir(parents=True, exist_ok=True)
        (made.pods / "team_job-0" / f"{container}.log").write_text(f"{container}\n")
    return made


def test_logs_are_found_by_process_and_by_pod(layout: Layout) -> None:
    assert logs.available(layout) == ["etcd", "team/job-0"]
    assert list(logs.last_lines(logs.find(layout, "etcd"), 2)) == ["two\n", "three\n"]
    assert logs.find(layout, "team/job-0", "side").read_text() == "side\n"


@pytest.mark.parametrize(
    ("target", "container", "message"),
    [
        ("nothing", None, "nothing of this name has a log. Choose one of etcd, team/job-0"),
        ("team/other", None, "is simulated"),
        ("team/job-0", None, "several containers: main, side. Choose one with --container"),
        ("team/job-0", "third", "no container third. It has main, side"),
        ("../etcd", None, "no log"),
    ],
)
def test_missing_log_names_the_choices(layout: Layout, target: str, container: str | None, message: str) -> None:
    with pytest.raises(FlotillaError) as caught:
        logs.find(layout, target, container)
    assert message in str(caught.value)


def test_following_yields_what_is_appended_and_survives_a_new_beginning(layout: Layout) -> None:
    log = layout.logs / "etcd.log"
    following = logs.follow(log)
    timer = threading.Timer(0.05, lambda: log.write_text("one\ntwo\nthree\nfour\n"))
    timer.start()
    assert next(following) == "four\n"
    timer.join()
    log.write_text("new\n")
    assert next(following) == "new\n"
