"""What is wrong with the settings: a problem says where, what and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from infra.errors import FlotillaError

if TYPE_CHECKING:
    from collections.abc import Iterable

DESIGNED = "flotilla_setting"
"""The pydantic error type of messages written by this package; others are translated."""


@dataclass(frozen=True, order=True)
class Problem:
    """One thing to put right in a values file.

    Args:
        file: the file that set the key, as a user would name it.
        line: its line, from 1; 0 when the file as a whole is meant.
        path: dotted path of the key; empty when the file as a whole is meant.
        what: what is wrong, without a full stop.
        remedy: what to write instead, without a full stop.

    """

    file: str
    line: int
    path: str
    what: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        path = f"{self.path}: " if self.path else ""
        stop = "" if self.remedy.endswith("?") else "."
        return f"{place}: {path}{self.what}. {self.remedy}{stop}"


class SettingsError(FlotillaError):
    """Every problem of an environment's settings, in the order of its files and lines; one alone is one line."""

    def __init__(self, environment: str, problems: Iterable[Problem]) -> None:
        self.environment = environment
        self.problems = tuple(sorted(set(problems)))
        count = len(self.problems)
        super().__init__(f"{count} problem{'s' * (count != 1)} in the settings of {environment}")

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        return "\n".join((self.what, *(f"  {problem}" for problem in self.problems)))


def invalid(what: str, remedy: str) -> PydanticCustomError:
    """Return the error a validator raises, with a message meant for the user."""
    return PydanticCustomError(DESIGNED, "{what}", {"what": what, "remedy": remedy})
