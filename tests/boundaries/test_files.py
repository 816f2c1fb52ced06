"""What is committed is small, readable on any machine, and holds no secret."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from policies.committed import faults
from tests.boundaries.sources import ROOT

LARGEST = 512 * 1024
"""Bytes. What is larger belongs in a release, a registry or a module."""

HOME = re.compile(rb"(?<![\w.$}~])/(?:root|(?:home|Users)/[a-z][\w-]*)/")


@cache
def _committed() -> tuple[Path, ...]:
    """Return the files that git knows, or would after `git add --all`."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return tuple(path for name in listed.split("\0") if name and (path := Path(name)) and (ROOT / path).is_file())


def test_committed_files_are_small() -> None:
    large = [f"{path}: {size} bytes" for path in _committed() if (size := (ROOT / path).stat().st_size) > LARGEST]

    assert large == []


def test_committed_files_hold_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    assert [fault for path in _committed() for fault in faults(path)] == []


def test_committed_files_name_no_home_folder() -> None:
    named = [str(path) for path in _committed() if HOME.search((ROOT / path).read_bytes())]

    assert named == []
