"""Measures cases in rounds: every side on a cluster of its own, in alternating order, within a time limit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bench.bed import fresh
from bench.report import Measured

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bench.cases import Case
    from bench.sides import Times
    from sandbox.tools import Toolchain

CASE_SECONDS = 120.0
"""A further round begins only where it is likely to end within this; the first round always runs."""


def measure(case: Case, toolchain: Toolchain, folder: Path, *, repeat: int, tell: Callable[[str], None]) -> Measured:
    """Measure one case.

    Args:
        case: the objects and the sides.
        toolchain: the programs.
        folder: where the test beds are.
        repeat: how many rounds, and how many runs of what only reads in each, at most.
        tell: is told how far it is.
    """
    times: dict[str, Times] = {side.name: {} for side in case.sides}
    used = last = 0.0
    for number in range(repeat):
        if used + last > CASE_SECONDS and number:
            break
        started = time.monotonic()
        for side in case.sides if number % 2 == 0 else reversed(case.sides):
            tell(f"round {number + 1}, {side.name}")
            with fresh(toolchain, case.nodes, folder, settings=case.settings) as bed:
                for command, seconds in side.measure(bed, repeat).items():
                    times[side.name].setdefault(command, []).extend(seconds)
        last = time.monotonic() - started
        used += last
    return Measured(title=case.title, objects=case.objects, times=times)
