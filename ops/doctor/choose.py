"""Chooses checks by group, with those that they need."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from infra.errors import FlotillaError
from infra.settings.suggest import did_you_mean
from ops.doctor.check import Group

if TYPE_CHECKING:
    from ops.doctor.check import Check
    from ops.doctor.examine import Examination

GROUPS: tuple[str, ...] = get_args(Group)
"""What may be chosen by."""


def groups(words: Sequence[str]) -> frozenset[str]:
    """Return the groups that the words name; all where there are none.

    Raises:
        FlotillaError: there is no such group.
    """
    for word in words:
        if word not in GROUPS:
            raise FlotillaError(
                f"there is no group of checks called {word!r}",
                where="--only",
                remedy=f"{did_you_mean(word, GROUPS)}Known: {', '.join(GROUPS)}",
            )
    return frozenset(words or GROUPS)


def choose(examinations: Sequence[Examination], wanted: Collection[str]) -> list[Examination]:
    """Return the examinations with no more than the checks of these groups and those that they need."""
    chosen: list[Examination] = []
    for examination in examinations:
        checks = _with_needed(examination.checks, wanted)
        if checks:
            chosen.append(replace(examination, checks=checks))
        else:
            examination.probe.close()
    return chosen


def _with_needed(checks: tuple[Check[Any], ...], wanted: Collection[str]) -> tuple[Check[Any], ...]:
    names: set[str] = set()
    for check in reversed(checks):
        if check.group in wanted or check.name in names:
            names |= {check.name, *check.needs}
    return tuple(check for check in checks if check.name in names)
