"""A Job's script lies beside all that it sources, and is a script of its own."""

from __future__ import annotations

import re
import subprocess

import pytest

from infra.components.data.bootstrap import SCRIPTS as FOLDER
from infra.core.script_files import script_files

SHARED = {"common.sh", "consumers.sh"}
SCRIPTS = sorted(file.name for file in FOLDER.glob("*.sh") if file.name not in SHARED)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_comes_with_what_it_sources(name: str) -> None:
    files = script_files(FOLDER / name)
    assert next(iter(files)) == name
    assert files.keys() - {name} == set(re.findall(r"^\. .*/(\w+\.sh)", files[name], re.MULTILINE))
    assert files.keys() - {name} <= SHARED
    assert "common.sh" in files


@pytest.mark.parametrize("name", [*SCRIPTS, *sorted(SHARED)])
def test_script_is_valid_for_any_posix_shell(name: str) -> None:
    done = subprocess.run(["sh", "-n", str(FOLDER / name)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
