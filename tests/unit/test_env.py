from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

from infra import paths
from infra.errors import FlotillaError
from ops import cli
from ops.env import environment, variables
from sandbox.tools import Toolchain
from tests.unit.toolchain_fakes import says


@pytest.fixture
def toolchain(tmp_path: Path) -> Toolchain:
    says(tmp_path / "set" / "bin" / "pulumi", "v3.250.0")
    says(tmp_path / "set" / "plugins" / "resource-thing-v1.0.0" / "pulumi-resource-thing", "")
    return Toolchain(tmp_path / "set")


def test_variables_put_python_and_tools_first_and_keep_the_rest_of_path() -> None:
    made = variables(Path("/tools"), Path("/state"), "/usr/bin:/tools:/bin")
    first, second, *rest = made["PATH"].split(os.pathsep)
    assert Path(first, "python").exists()
    assert second == "/tools"
    assert rest == ["/usr/bin", "/bin"]


def test_variables_keep_everything_of_the_engine_in_the_state_folder() -> None:
    made = variables(Path("/tools"), Path("/state"), "")
    assert made["PULUMI_BACKEND_URL"] == "file:///state/pulumi"
    assert made["PULUMI_CONFIG_PASSPHRASE_FILE"] == "/state/passphrase"
    assert made["PULUMI_HOME"] == "/state/pulumi-home"
    assert made["KUBECONFIG"] == "/state/sandbox/kubeconfig"


def test_passphrase_is_random_private_and_kept(tmp_path: Path, toolchain: Toolchain) -> None:
    first = Path(environment(toolchain, tmp_path / "one")["PULUMI_CONFIG_PASSPHRASE_FILE"])
    passphrase = first.read_text()
    environment(toolchain, tmp_path / "one")
    other = Path(environment(toolchain, tmp_path / "two")["PULUMI_CONFIG_PASSPHRASE_FILE"])
    assert first.read_text() == passphrase
    assert other.read_text() != passphrase
    assert len(passphrase) >= 32
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["passphrase", "pulumi", "pulumi-home"]


def test_plugins_are_shown_to_the_engine_and_follow_the_toolchain(tmp_path: Path, toolchain: Toolchain) -> None:
    link = tmp_path / "state" / "pulumi-home" / "plugins" / "resource-thing-v1.0.0" / "pulumi-resource-thing"
    environment(toolchain, tmp_path / "state")
    assert link.readlink() == toolchain.path("pulumi-resource-thing")
    newer = Toolchain(toolchain.folder.rename(tmp_path / "newer"))
    environment(newer, tmp_path / "state")
    assert link.readlink() == newer.path("pulumi-resource-thing")


def test_unusable_state_folder_is_a_clear_error(tmp_path: Path, toolchain: Toolchain) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FlotillaError, match="cannot keep state here"):
        environment(toolchain, tmp_path / "file" / "state")


def test_env_command_prints_lines_that_a_shell_takes_whatever_the_folders_are_called(
    tmp_path: Path, toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "it's a $HOME"
    monkeypatch.setattr(paths, "STATE", state)
    monkeypatch.setattr(Toolchain, "find", lambda: toolchain)
    with pytest.raises(SystemExit):
        cli.main(["env"])
    lines = capsys.readouterr().out
    shell = subprocess.run(
        ["/bin/sh", "-c", f"eval {shlex.quote(lines)}; echo $PULUMI_HOME"], capture_output=True, text=True, check=True
    )
    assert shell.stdout == f"{state}/pulumi-home\n"


def test_env_command_prints_json_for_scripts(
    tmp_path: Path, toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paths, "STATE", tmp_path / "state")
    monkeypatch.setattr(Toolchain, "find", lambda: toolchain)
    with pytest.raises(SystemExit):
        cli.main(["env", "--json"])
    assert json.loads(capsys.readouterr().out) == environment(toolchain, tmp_path / "state")
