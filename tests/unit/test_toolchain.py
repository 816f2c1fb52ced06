from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from infra.errors import FlotillaError
from ops import cli
from sandbox.tools import Toolchain, assembly, build, catalog, golang
from sandbox.tools.catalog import Module, Tool
from sandbox.tools.golang import Go
from sandbox.tools.versions import Version
from tests.unit.toolchain_fakes import FakeGo, Recorder, module, says


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGo:
    """A machine with nothing on PATH, and a catalog of an engine, two tools and a plugin."""
    monkeypatch.setenv("FLOTILLA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setattr(catalog, "MODULES_FOLDER", tmp_path / "modules")
    plugin = module(tmp_path / "modules", "provider", ())
    modules = (
        module(tmp_path / "modules", "pulumi", ("pulumi",)),
        module(tmp_path / "modules", "things", ("alpha", "beta")),
        Module(
            name="provider",
            origin=plugin.origin,
            tools=(Tool(name="pulumi-resource-thing", package="x/pulumi-resource-thing", plugin=True),),
        ),
    )
    monkeypatch.setattr(catalog, "MODULES", modules)
    made = FakeGo(tmp_path / "compiler")
    monkeypatch.setattr(golang, "ensure_go", lambda minimum, progress: Go(made.path, Version(1, 26, 8)))
    return made


def test_toolchain_has_every_tool_in_one_folder_and_plugins_in_the_engines_layout(go: FakeGo) -> None:
    progress = Recorder()
    toolchain = Toolchain.ensure(progress)
    assert {path.name for path in toolchain.bin.iterdir()} == {
        "pulumi",
        "alpha",
        "beta",
        "pulumi-language-python",
        "pulumi-resource-pulumi-python",
    }
    assert (toolchain.plugins / "resource-thing-v2.5.1" / "pulumi-resource-thing").is_file()
    assert toolchain.path("alpha") == toolchain.bin / "alpha"
    assert toolchain.path("pulumi-resource-thing").is_relative_to(toolchain.plugins)
    assert progress.steps == [("pulumi 2.5.1", 1, 3), ("things 2.5.1", 2, 3), ("provider 2.5.1", 3, 3)]


def test_another_checkout_of_the_same_version_finds_the_toolchain_whole(
    go: FakeGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Toolchain.ensure()
    scripts = tmp_path / "checked-out-later"
    shutil.copytree(assembly.SCRIPTS, scripts, copy_function=shutil.copyfile)
    monkeypatch.setattr(assembly, "SCRIPTS", scripts)

    assert Toolchain.find().folder == made.folder


def test_programs_are_real_files_beside_the_engine(go: FakeGo) -> None:
    toolchain = Toolchain.ensure()
    for path in toolchain.bin.iterdir():
        assert path.resolve().parent == toolchain.bin.resolve()
        assert os.access(path, os.X_OK)


def test_second_run_builds_nothing_and_says_nothing(go: FakeGo, tmp_path: Path) -> None:
    first = Toolchain.ensure()
    says(tmp_path / "path" / "alpha", "v9.9.9")
    progress = Recorder()
    assert Toolchain.ensure(progress) == first
    assert len(go.calls) == 3
    assert (progress.notes, progress.steps) == ([], [])


def test_find_needs_a_built_toolchain(go: FakeGo) -> None:
    with pytest.raises(FlotillaError, match="the toolchain is not built"):
        Toolchain.find()
    toolchain = Toolchain.ensure()
    assert Toolchain.find() == toolchain


def test_tool_found_on_path_takes_the_place_of_the_built_one(go: FakeGo, tmp_path: Path) -> None:
    found = says(tmp_path / "path" / "alpha", "v2.5.9")
    toolchain = Toolchain.ensure()
    assert toolchain.path("alpha").resolve() == found
    assert not toolchain.path("beta").is_symlink()


def test_module_is_not_built_when_all_its_tools_are_on_path(go: FakeGo, tmp_path: Path) -> None:
    for name in ("alpha", "beta"):
        says(tmp_path / "path" / name, "v2.5.9")
    progress = Recorder()
    Toolchain.ensure(progress)
    assert [title for title, _, _ in progress.steps] == ["pulumi 2.5.1", "provider 2.5.1"]


def test_official_language_host_is_used_beside_an_official_engine(go: FakeGo, tmp_path: Path) -> None:
    official = tmp_path / "path"
    says(official / "pulumi", "v2.5.1")
    for name in ("pulumi-language-python", "pulumi-language-python-exec", "pulumi-resource-pulumi-python"):
        says(official / name, "official")
    toolchain = Toolchain.ensure()
    assert toolchain.path("pulumi-language-python").resolve() == official / "pulumi-language-python"


def test_our_language_host_is_used_beside_an_engine_that_came_alone(go: FakeGo, tmp_path: Path) -> None:
    says(tmp_path / "path" / "pulumi", "v2.5.1")
    host = Toolchain.ensure().path("pulumi-language-python")
    assert "sandbox.language_host" in host.read_text()


def test_damaged_tool_is_built_again_and_put_in_its_place(go: FakeGo) -> None:
    toolchain = Toolchain.ensure()
    victim = toolchain.path("beta")
    whole = victim.read_bytes()
    victim.write_bytes(b"")
    with pytest.raises(FlotillaError, match="the toolchain is damaged: beta has 0 bytes"):
        Toolchain.find()
    assert Toolchain.ensure() == toolchain
    assert victim.read_bytes() == whole


def test_unknown_tool_is_a_clear_error(go: FakeGo) -> None:
    with pytest.raises(FlotillaError, match="the toolchain has no gamma"):
        Toolchain.ensure().path("gamma")


def test_unusable_cache_is_a_clear_error(go: FakeGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLOTILLA_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(FlotillaError, match="cannot keep the toolchain here"):
        Toolchain.ensure()


def test_status_command_tells_what_is_missing_built_and_damaged(
    go: FakeGo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    says(tmp_path / "path" / "alpha", "v1.0.0")

    def status(*options: str) -> tuple[int, dict[str, str], list[str]]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["toolchain", "status", "--json", *options])
        answer = json.loads(capsys.readouterr().out)
        code = ended.value.code or 0
        assert isinstance(code, int)
        return code, {row["tool"]: row["state"] for row in answer["tools"]}, answer["notes"]

    code, states, notes = status()
    assert code == 1
    assert set(states.values()) == {"not built"}
    assert notes == [f"{tmp_path}/path/alpha is version 1.0.0, needed is 2.5.x: not used"]

    toolchain = Toolchain.ensure()
    assert status()[0] == 0

    content = toolchain.path("beta").read_bytes()
    toolchain.path("beta").write_bytes(content[::-1])
    assert status()[0] == 0
    code, states, _ = status("--verify")
    assert code == 1
    assert states["beta"] == "the content of beta has changed"
    assert states["pulumi"] == "ok"


def test_cache_key_does_not_depend_on_the_go_that_builds(go: FakeGo, monkeypatch: pytest.MonkeyPatch) -> None:
    Toolchain.ensure()
    monkeypatch.setattr(golang, "ensure_go", lambda minimum, progress: pytest.fail("no Go is needed"))
    Toolchain.ensure()
    assert all(build.is_built(made) for made in catalog.MODULES)


def test_module_that_only_some_need_is_built_when_it_is_wanted_and_kept_from_then_on(
    go: FakeGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rare = replace(module(tmp_path / "modules", "rare", ("gamma",)), on_demand=True)
    monkeypatch.setattr(catalog, "MODULES", (*catalog.MODULES, rare))
    assert not (Toolchain.ensure().bin / "gamma").exists()

    wanted = Toolchain.ensure(wanted=["rare"])

    assert wanted.path("gamma").is_file()
    assert Toolchain.ensure() == Toolchain.find() == wanted


def test_find_puts_together_what_was_built_since(go: FakeGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Toolchain.ensure()
    rare = replace(module(tmp_path / "modules", "rare", ("gamma",)), on_demand=True)
    build.ensure_built(rare, lambda: Go(go.path, Version(1, 26, 8)), Recorder(), 1, 1)
    monkeypatch.setattr(catalog, "MODULES", (*catalog.MODULES, rare))

    assert Toolchain.find().path("gamma").is_file()
