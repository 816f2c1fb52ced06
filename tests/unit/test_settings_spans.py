"""Spans of time mean what they say."""

from __future__ import annotations

import pytest

from infra.settings.spans import seconds


@pytest.mark.parametrize(("span", "expected"), [("90s", 90), ("10m", 600), ("1h30m", 5400), ("1h0m5s", 3605)])
def test_span_has_so_many_seconds(span: str, expected: int) -> None:
    assert seconds(span) == expected
