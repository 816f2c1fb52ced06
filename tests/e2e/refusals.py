"""What a refusal must look like: one line that says where, what and what to do."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Done = subprocess.CompletedProcess[str]

_DISK = """
disk="$1" size="$2" seed="$3" listing="$4"; shift 4
mount -t tmpfs -o "size=$size" tmpfs "$disk" || exit 99
cp -a "$seed/." "$disk"
"$@"; code=$?
(cd "$disk" && find . -type f) > "$listing"
exit $code
"""


def line_of(done: Done) -> str:
    """Return the one line by which a `flotilla` command refused; progress may stand above it, nothing below."""
    *progress, line = done.stderr.splitlines() or [""]
    assert done.returncode == 1, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    assert line.startswith("error: "), done.stderr
    assert all(each.startswith("  ") for each in progress), done.stderr
    return line.removeprefix("error: ")


def diagnostic_of(done: Done) -> str:
    """Return the one error by which the engine refused."""
    said = done.stdout + done.stderr
    assert done.returncode not in (0, None), said
    assert "Traceback" not in said, said
    shown = said.rpartition("Diagnostics:")[2].partition("Resources:")[0]
    errors = re.findall(r"^ +error: (.*)$", shown, re.MULTILINE)
    assert len(errors) == 1, said
    assert len(shown.strip().splitlines()) == 2, said
    return errors[0]


class SmallDisk:
    """A file system with little room, which only commands run within it see.

    Args:
        folder: where it is mounted.
        size: its size, as `16m`.
        seed: a folder whose content it starts with.
    """

    def __init__(self, folder: Path, size: str, seed: Path, rights: tuple[str, ...]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._listing = seed.with_name("left")
        paths = (str(folder), size, str(seed), str(self._listing))
        self.within = (*rights, "sh", "-c", _DISK, "sh", *paths)

    def files(self) -> set[str]:
        """Return the files on it when the command had ended."""
        return {line.removeprefix("./") for line in self._listing.read_text().splitlines()}


def mount_rights() -> tuple[str, ...] | None:
    """Return the command that may mount a disk for its children alone; None where nothing may."""
    for command in (("unshare", "--mount"), ("unshare", "--mount", "--map-root-user")):
        trial = [*command, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        if subprocess.run(trial, capture_output=True, check=False).returncode == 0:
            return command
    return None
