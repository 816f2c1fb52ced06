"""Versions of programs: reading them, and deciding whether one found on a machine fits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NUMBERS = re.compile(r"(?<![\d.])v?(\d+)\.(\d+)(?:\.(\d+))?")


@dataclass(frozen=True, order=True)
class Version:
    """Major, minor and patch of a program."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @classmethod
    def find(cls, text: str) -> Version | None:
        """Return the first version that `text` mentions."""
        found = _NUMBERS.search(text)
        return cls(*(int(part or 0) for part in found.groups())) if found else None

    @classmethod
    def parse(cls, text: str) -> Version:
        """Return the version that `text` is known to mention."""
        version = cls.find(text)
        if version is None:
            raise ValueError(f"{text!r} holds no version")
        return version


@dataclass(frozen=True)
class Rule:
    """Which versions may stand in for the pinned one."""

    fits: Callable[[Version, Version], bool]
    wanted: Callable[[Version], str]


SAME_MINOR = Rule(
    fits=lambda found, pinned: (found.major, found.minor) == (pinned.major, pinned.minor),
    wanted=lambda pinned: f"{pinned.major}.{pinned.minor}.x",
)
"""For servers whose flags and formats are tested with one minor version."""

WITHIN_ONE_MINOR = Rule(
    fits=lambda found, pinned: found.major == pinned.major and abs(found.minor - pinned.minor) <= 1,
    wanted=lambda pinned: f"{pinned.major}.{pinned.minor - 1} to {pinned.major}.{pinned.minor + 1}",
)
"""Kubernetes' own skew policy between kubectl and the API server."""

SAME_MAJOR_NOT_OLDER = Rule(
    fits=lambda found, pinned: found.major == pinned.major and found >= pinned,
    wanted=lambda pinned: f"{pinned} or a later {pinned.major}.x",
)
"""For an engine that serves every SDK up to its own version, and for a compiler."""

EXACT = Rule(fits=lambda found, pinned: found == pinned, wanted=lambda pinned: f"exactly {pinned}")
"""For a plugin that the SDK asks for by its full version."""
