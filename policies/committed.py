"""Refuses files that hold secrets, before they are committed: `python -m policies.committed FILE...`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from policies.plaintext import lines, shapes

if TYPE_CHECKING:
    from collections.abc import Iterable

CONFIGURATION = frozenset({".cfg", ".env", ".ini", ".json", ".properties", ".toml", ".yaml", ".yml"})
"""Suffixes of files in which a name beside a value is a setting."""

MADE_UP = Path("tests")
RENDERED = MADE_UP / "golden"
"""Tests hold made-up secrets, to show that they are found; what is rendered from the real values must hold none."""


def faults(path: Path) -> list[str]:
    """Return what looks like a secret in a file, without repeating it; nothing for what is not text."""
    if path.is_relative_to(MADE_UP) and not path.is_relative_to(RENDERED):
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return []
    named = lines(text) if path.suffix in CONFIGURATION or path.name == ".env" else []
    return [
        *(f"{path}: holds {what}" for what in shapes(text)),
        *(f"{path}: gives {name} a value in plain text" for name in named),
    ]


def main(files: Iterable[str]) -> None:
    """Exit with 1 and a line for each finding when any of the files holds a secret."""
    found = [fault for file in files for fault in faults(Path(file))]
    if found:
        remedy = "Keep it in the stack's encrypted configuration: pulumi config set --secret NAME"
        sys.exit("\n".join([*(f"error: {fault}" for fault in found), remedy]))


if __name__ == "__main__":
    main(sys.argv[1:])
