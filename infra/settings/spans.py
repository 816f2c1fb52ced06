"""Spans of time, as settings write them."""

from __future__ import annotations

import re

_SECONDS = {"s": 1, "m": 60, "h": 3600}


def seconds(span: str) -> int:
    """Return a span of time, such as 1h30m, in seconds."""
    return sum(int(number) * _SECONDS[unit] for number, unit in re.findall(r"([0-9]+)([smh])", span))
