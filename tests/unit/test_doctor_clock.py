"""Clocks are compared fairly: the time an answer takes and cut-off seconds are nobody's skew."""

from __future__ import annotations

import datetime

import pytest

from ops.doctor.network.clock import http_skew, skew

ASKED = datetime.datetime(2026, 11, 21, 12, 0, 0, 500_000, tzinfo=datetime.UTC)
ANSWERED = ASKED + datetime.timedelta(seconds=2)


def after(seconds: float) -> datetime.datetime:
    return ASKED + datetime.timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("server", "status", "what"),
    [
        (after(1), "ok", "its clock agrees with this machine's"),
        (after(-4.9), "ok", "its clock agrees with this machine's"),
        (after(6.9), "ok", "its clock agrees with this machine's"),
        (after(-10), "warn", "its clock is 10 s behind this machine's"),
        (after(12), "warn", "its clock is 10 s ahead of this machine's"),
        (after(-900), "fail", "its clock is 900 s behind this machine's"),
        (after(3602), "fail", "its clock is 3600 s ahead of this machine's"),
    ],
)
def test_skew_is_what_lies_outside_of_question_and_answer(server: datetime.datetime, status: str, what: str) -> None:
    found = skew(server, ASKED, ANSWERED)

    assert (found.status, found.what) == (status, what)


def test_a_second_that_was_cut_off_is_no_skew() -> None:
    whole = ASKED.replace(microsecond=0) - datetime.timedelta(seconds=5)

    assert skew(whole, ASKED, ANSWERED).status == "ok"


def test_the_date_header_is_read_as_utc() -> None:
    found = http_skew("Sat, 21 Nov 2026 11:45:00 GMT", ASKED, ANSWERED)

    assert found is not None
    assert found.what == "its clock is 900 s behind this machine's"


@pytest.mark.parametrize("date", [None, "", "yesterday"])
def test_a_date_that_cannot_be_read_tells_nothing(date: str | None) -> None:
    assert http_skew(date, ASKED, ANSWERED) is None
