"""Warnings: what is valid, and yet hardly meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.locate import locate
from infra.settings.problems import Problem
from infra.settings.rules.capacity import example_jobs_can_run
from infra.settings.rules.topologies import jobs_may_keep_silent_about_topology

if TYPE_CHECKING:
    from infra.settings.load import Loaded
    from infra.settings.rules.rule import Rule

ADVICE: tuple[Rule, ...] = (example_jobs_can_run, jobs_may_keep_silent_about_topology)
"""Rules that warn rather than refuse."""


def advise(loaded: Loaded) -> tuple[Problem, ...]:
    """Return everything worth a warning, by file and line."""
    found: list[Problem] = []
    for rule in ADVICE:
        for violation in rule.check(loaded.settings):
            place = locate(loaded.values, violation.path)
            found.append(Problem(place.origin.file, place.origin.line, place.dotted, violation.what, violation.remedy))
    return tuple(sorted(found))
