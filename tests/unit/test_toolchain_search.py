from __future__ import annotations

import os
from pathlib import Path

import pytest

from infra.errors import FlotillaError
from sandbox.tools import search
from sandbox.tools.catalog import Tool
from sandbox.tools.versions import EXACT, Version
from tests.unit.toolchain_fakes import says, script

KUBECTL = Tool(name="kubectl", package="x/kubectl", version_arguments=("version",))
PLUGIN = Tool(name="pulumi-resource-thing", package=".", rule=EXACT, plugin=True)
PINNED = Version(1, 36, 3)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("FLOTILLA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FLOTILLA_TOOL_KUBECTL", raising=False)
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path / "first"), str(tmp_path / "second"))))
    return []


def test_path_tool_is_used_when_its_version_fits(tmp_path: Path, notes: list[str]) -> None:
    path = says(tmp_path / "first" / "kubectl", "Client Version: v1.36.0")
    assert search.find(KUBECTL, PINNED, notes.append) == search.Found(path, Version(1, 36, 0))
    assert notes == []


def test_path_tool_is_skipped_with_a_note_when_its_version_does_not_fit(tmp_path: Path, notes: list[str]) -> None:
    old = says(tmp_path / "first" / "kubectl", "Client Version: v1.20.0")
    fitting = says(tmp_path / "second" / "kubectl", "Client Version: v1.36.9")
    found = search.find(KUBECTL, PINNED, notes.append)
    assert found is not None
    assert found.path == fitting
    assert notes == [f"{old} is version 1.20.0, needed is 1.36.x: not used"]


def test_path_tool_is_skipped_when_it_fails(tmp_path: Path, notes: list[str]) -> None:
    broken = script(tmp_path / "first" / "kubectl", "exit 3")
    assert search.find(KUBECTL, PINNED, notes.append) is None
    assert notes == [f"{broken} does not tell its version: not used"]


def test_path_tool_is_ignored_when_it_is_the_toolchains_own(
    tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "cache" / "toolchain" / "set-1" / "bin"
    says(own / "kubectl", "v1.36.3")
    monkeypatch.setenv("PATH", str(own), prepend=os.pathsep)
    assert search.find(KUBECTL, PINNED, notes.append) is None
    assert notes == []


def test_tool_that_cannot_tell_its_version_is_never_taken_from_path(tmp_path: Path, notes: list[str]) -> None:
    says(tmp_path / "first" / "operator", "v1.36.3")
    assert search.find(Tool(name="operator", package="x"), PINNED, notes.append) is None


def test_forced_tool_is_used_when_its_version_fits(
    tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = says(tmp_path / "elsewhere" / "my-kubectl", "v1.36.1")
    monkeypatch.setenv("FLOTILLA_TOOL_KUBECTL", str(path))
    found = search.find(KUBECTL, PINNED, notes.append)
    assert found == search.Found(path, Version(1, 36, 1), forced=True)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("echo v1.20.0", "is version 1.20.0"),
        ("exit 1", "does not tell its version"),
        (None, "is no program that can be run"),
    ],
)
def test_forced_tool_is_an_error_when_it_cannot_be_used(
    body: str | None, message: str, tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kubectl"
    if body:
        script(path, body)
    monkeypatch.setenv("FLOTILLA_TOOL_KUBECTL", str(path))
    with pytest.raises(FlotillaError) as raised:
        search.find(KUBECTL, PINNED, notes.append)
    assert str(raised.value) == (
        f"FLOTILLA_TOOL_KUBECTL={path}: {message}. Point FLOTILLA_TOOL_KUBECTL to kubectl 1.36.x, or unset it"
    )


def test_plugin_is_taken_from_the_engines_cache_when_the_version_is_exact(
    tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    plugins = tmp_path / ".pulumi" / "plugins"
    says(plugins / "resource-thing-v1.36.2" / PLUGIN.name, "")
    assert search.find(PLUGIN, PINNED, notes.append) is None
    path = says(plugins / "resource-thing-v1.36.3" / PLUGIN.name, "")
    assert search.find(PLUGIN, PINNED, notes.append) == search.Found(path, PINNED)
