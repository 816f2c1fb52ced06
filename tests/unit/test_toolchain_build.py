from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from infra.errors import FlotillaError
from sandbox.tools import build, catalog, store
from sandbox.tools.golang import Go
from sandbox.tools.versions import Version
from tests.unit.toolchain_fakes import FakeGo, Recorder, module


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLOTILLA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(catalog, "MODULES_FOLDER", tmp_path / "modules")
    return tmp_path / "modules"


def _build(made: catalog.Module, go: FakeGo, progress: Recorder | None = None) -> Path:
    return build.ensure_built(made, lambda: Go(go.path, Version(1, 26, 8)), progress or Recorder(), 1, 1)


def _entries() -> list[str]:
    return sorted(path.name for path in store.root().iterdir() if path.name not in ("locks", "logs"))


def test_module_is_built_once_and_then_comes_from_the_cache(tmp_path: Path, modules: Path) -> None:
    made, go, progress = module(modules), FakeGo(tmp_path), Recorder()
    folder = _build(made, go, progress)
    assert _build(made, go, progress) == folder
    assert sorted(path.name for path in folder.iterdir()) == ["alpha", "beta", "manifest.json"]
    assert len(go.calls) == 1
    assert progress.steps == [("things 2.5.1", 1, 1)]
    assert store.facts_of(folder) == {"module": "things", "version": "2.5.1", "go": "1.26.8"}


def test_module_with_one_tool_is_named_after_the_tool_not_the_package(tmp_path: Path, modules: Path) -> None:
    folder = _build(module(modules, tools=("alone",)), FakeGo(tmp_path))
    assert (folder / "alone").is_file()


def test_version_is_stamped_by_the_linker(tmp_path: Path, modules: Path) -> None:
    go = FakeGo(tmp_path)
    _build(module(modules), go)
    assert "-X example.org/v.version=v2.5.1 -X example.org/v.minor=5" in go.calls[0]


def test_build_ignores_flags_targets_and_workspaces_of_the_user(
    tmp_path: Path, modules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=mod -insecure")
    monkeypatch.setenv("GOOS", "plan9")
    monkeypatch.setenv("GOPROXY", "https://proxy.example.org")
    monkeypatch.setenv("GOTOOLCHAIN", "auto")
    go = FakeGo(tmp_path)
    _build(module(modules), go)
    assert go.environment["GOFLAGS"] == "-mod=readonly"
    assert go.environment["GOTOOLCHAIN"] == "local"
    assert go.environment["GOWORK"] == "off"
    assert go.environment["GOPROXY"] == "https://proxy.example.org"
    assert "GOOS" not in go.environment


@pytest.mark.parametrize("file", ["go.mod", "go.sum", "main.go"])
def test_key_changes_with_every_source_of_the_module(file: str, modules: Path) -> None:
    made = module(modules)
    before = build.folder_of(made)
    with (made.folder / file).open("a") as source:
        source.write("// changed\n")
    assert build.folder_of(made) != before


@pytest.mark.parametrize("harm", ["truncated", "emptied", "removed", "manifest"])
def test_damaged_cache_is_rebuilt_with_a_note(harm: str, tmp_path: Path, modules: Path) -> None:
    made, go, progress = module(modules), FakeGo(tmp_path), Recorder()
    folder = _build(made, go)
    victim = folder / "beta"
    whole = victim.read_bytes()
    match harm:
        case "truncated":
            victim.write_bytes(whole[:3])
        case "emptied":
            victim.write_bytes(b"")
        case "removed":
            victim.unlink()
        case _:
            (folder / "manifest.json").write_text("{")
    assert not build.is_built(made)
    _build(made, go, progress)
    assert victim.read_bytes() == whole
    assert len(progress.notes) == 1
    assert "is damaged" in progress.notes[0]
    assert build.is_built(made)


def test_changed_content_of_the_same_size_is_found_by_a_thorough_look(tmp_path: Path, modules: Path) -> None:
    made = module(modules)
    victim = _build(made, FakeGo(tmp_path)) / "alpha"
    victim.write_bytes(victim.read_bytes()[::-1])
    assert build.damage(made) is None
    assert build.damage(made, thorough=True) == "the content of alpha has changed"


def test_failed_build_leaves_nothing(tmp_path: Path, modules: Path) -> None:
    go = FakeGo(tmp_path, body='echo half > "${out}alpha"; echo "undefined: Foo" >&2; exit 1')
    with pytest.raises(FlotillaError, match=r"building things 2\.5\.1: the build failed \(undefined: Foo\)"):
        _build(module(modules), go)
    assert _entries() == []


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_interrupted_build_leaves_nothing_and_ends_the_compiler(name: str, tmp_path: Path, modules: Path) -> None:
    go = FakeGo(tmp_path, body=f'echo half > "${{out}}alpha"; echo $$ > {tmp_path}/pid; kill -{name} $PPID; sleep 30')
    with pytest.raises(KeyboardInterrupt):
        _build(module(modules), go)
    assert _entries() == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_leftovers_of_a_killed_build_are_cleared_by_the_next(tmp_path: Path, modules: Path) -> None:
    made = module(modules)
    folder = build.folder_of(made)
    leftover = folder.with_name(f".new-{folder.name}-abcdef")
    leftover.mkdir(parents=True)
    (leftover / "alpha").write_text("half")
    _build(made, FakeGo(tmp_path))
    assert _entries() == [folder.name]


def test_parallel_builds_compile_once(tmp_path: Path, modules: Path) -> None:
    made, go = module(modules), FakeGo(tmp_path, body="sleep 0.2")
    threads = [threading.Thread(target=_build, args=(made, go)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert build.is_built(made)
    assert len(go.calls) == 1


def test_second_process_says_what_it_waits_for(tmp_path: Path, modules: Path) -> None:
    made, go, progress = module(modules), FakeGo(tmp_path), Recorder()
    released = threading.Event()
    held = threading.Event()

    def hold() -> None:
        with store.locked(made.name, Recorder()):
            held.set()
            released.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    timer = threading.Timer(0.7, released.set)
    timer.start()
    _build(made, go, progress)
    holder.join()
    assert progress.notes == ["waiting for another flotilla that is preparing things"]
