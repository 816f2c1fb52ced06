"""The AWS command line, in an environment of its own: its libraries are not ours."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

from infra.paths import cache_dir

VERSION = "1.46.3"
"""From Python's registry; the image that the Job runs has version 2, whose commands are the same."""

_INSTALL_SECONDS = 600


def aws_folder() -> Path:
    """Return the folder with `aws`, installed once for all checkouts; skip the test where it cannot be had."""
    folder = cache_dir() / "servers" / f"aws-cli-{VERSION}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "bin" / "aws").exists():
            _install(folder)
    return folder / "bin"


def _install(folder: Path) -> None:
    """Make it whole or not at all: the program is linked into place last."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True, capture_output=True)
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", f"awscli=={VERSION}"],
            capture_output=True,
            text=True,
            check=False,
            cwd=home,
            timeout=_INSTALL_SECONDS,
        )
    if done.returncode:
        (folder / "bin" / "aws").unlink(missing_ok=True)
        pytest.skip(f"no AWS command line on this machine: {done.stderr.strip().splitlines()[-1]}")
