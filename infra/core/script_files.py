"""A script that a Job runs, with what it sources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SOURCED = re.compile(r'^\. "\$\{0%/\*\}/(\S+)"$', re.MULTILINE)


def script_files(script: Path) -> dict[str, str]:
    """Return the texts of a script and of what it sources, by file name: all lie in its folder."""
    text = script.read_text(encoding="utf-8")
    sourced = {name: script.with_name(name).read_text(encoding="utf-8") for name in _SOURCED.findall(text)}
    return {script.name: text, **sourced}
