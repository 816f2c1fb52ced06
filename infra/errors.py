"""The one error type a user sees: where, what, and what to do about it."""

from __future__ import annotations


class FlotillaError(Exception):
    """Something a user can put right; the command prints it as one line and exits with 1.

    Args:
        what: what is wrong, without a full stop.
        where: file and line, dotted path, address or command it concerns.
        remedy: what to do, as an instruction.
    """

    def __init__(self, what: str, *, where: str | None = None, remedy: str | None = None) -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        super().__init__(what)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f". {self.remedy}" if self.remedy else ""
        return f"{place}{self.what}{advice}"
