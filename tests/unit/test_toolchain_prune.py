from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ops import cli
from sandbox.tools import Toolchain, build, catalog, golang, store
from sandbox.tools.catalog import Module
from sandbox.tools.golang import Go
from sandbox.tools.prune import prune
from sandbox.tools.versions import Version
from tests.unit.toolchain_fakes import FakeGo, module

KEY = "0123456789abcdef"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Module:
    """A catalog of an engine, built."""
    monkeypatch.setenv("FLOTILLA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setattr(catalog, "MODULES_FOLDER", tmp_path / "modules")
    made = module(tmp_path / "modules", "pulumi", ("pulumi",))
    monkeypatch.setattr(catalog, "MODULES", (made,))
    compiler = FakeGo(tmp_path / "compiler")
    monkeypatch.setattr(golang, "ensure_go", lambda minimum, progress: Go(compiler.path, Version(1, 26, 8)))
    Toolchain.ensure()
    return made


def folders() -> set[str]:
    return {path.name for path in store.root().iterdir()}


def test_what_the_lock_files_ask_for_stays(tools: Module) -> None:
    before = folders()
    golang.folder().mkdir()
    assert prune().removable == ()
    assert folders() == before | {golang.folder().name}
    Toolchain.find()


def test_what_other_lock_files_asked_for_goes_with_its_set(tools: Module) -> None:
    before = folders()
    lock = tools.folder / "go.sum"
    lock.write_text("others\n")
    Toolchain.ensure()
    lock.write_text("sums\n")
    added = folders() - before - {"locks"}
    assert len(added) == 2

    outcome = prune()

    assert {each.folder.name for each in outcome.removable} == added
    assert folders() == before
    Toolchain.find()


@pytest.mark.parametrize("name", [f"go-{KEY}", f"gone-tool-{KEY}", f".new-pulumi-{KEY}-x_y9z0ab", f".new-set-{KEY}-ab"])
def test_leftover_goes(name: str, tools: Module) -> None:
    (store.root() / name / "below").mkdir(parents=True)
    assert [each.folder.name for each in prune().removable] == [name]
    assert not (store.root() / name).exists()


@pytest.mark.parametrize("name", ["mine", f"{KEY}", "set-notes"])
def test_folder_that_the_toolchain_did_not_make_stays(name: str, tools: Module) -> None:
    (store.root() / name).mkdir()
    assert prune().removable == ()
    assert (store.root() / name).is_dir()


def test_size_counts_each_program_once_and_only_if_no_link_stays(tools: Module) -> None:
    stale, other = store.root() / f"old-{KEY}", store.root() / f"set-{KEY}"
    for folder in (stale, other):
        folder.mkdir()
    (stale / "tool").write_bytes(b"x" * 1000)
    (other / "tool").hardlink_to(stale / "tool")
    (other / "shared").hardlink_to(build.folder_of(tools) / "pulumi")
    assert prune(dry_run=True).freed_bytes == 1000


def test_folder_that_a_program_runs_from_stays(tools: Module) -> None:
    sleep = store.root() / f"set-{KEY}" / "bin" / "sleep"
    sleep.parent.mkdir(parents=True)
    shutil.copy2("/bin/sleep", sleep)
    with subprocess.Popen([sleep, "60"]) as process:
        try:
            outcome = prune()
        finally:
            process.kill()
    assert outcome.removable == ()
    assert [each.user for each in outcome.kept] == [f"sleep (pid {process.pid})"]
    assert sleep.exists()


def test_dry_run_lists_and_removes_nothing(tools: Module, capsys: pytest.CaptureFixture[str]) -> None:
    stale = store.root() / f"old-{KEY}"
    stale.mkdir()
    for option, did in ((["--dry-run"], "would be removed"), ([], "removed")):
        with pytest.raises(SystemExit) as ended:
            cli.main(["toolchain", "prune", *option])
        printed = capsys.readouterr()
        assert not ended.value.code
        assert printed.out == f"{stale}\n"
        assert printed.err == f"1 folder, 0 MiB: {did}\n"
        assert stale.exists() == bool(option)
    with pytest.raises(SystemExit):
        cli.main(["toolchain", "prune"])
    assert capsys.readouterr().err == "nothing to remove\n"
