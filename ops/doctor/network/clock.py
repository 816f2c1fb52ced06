"""How far a server's clock is from this machine's."""

from __future__ import annotations

import datetime
from email.utils import parsedate_to_datetime

from ops.doctor.check import Verdict, fail, ok, warn

ODD_SECONDS = 5.0
WRONG_SECONDS = 60.0
"""Signed requests are refused beyond 15 minutes, tokens and leases beyond much less."""

WHY = (
    "Signed requests, tokens, certificates and leases count on clocks that agree: where they do not, logins fail "
    "now and then, leaders change for no reason and logs tell events in the wrong order."
)
RUN = "Run a time daemon on both sides; then: chronyc tracking, or timedatectl."


def skew(server: datetime.datetime, asked: datetime.datetime, answered: datetime.datetime) -> Verdict:
    """Return what a server's time means, given when it was asked and when it answered, all with time zones.

    The server looked at its clock at some moment in between, and may have cut off the fraction of a second.
    """
    early = (asked - server).total_seconds()
    late = (server - answered).total_seconds()
    if server.microsecond == 0:
        early -= 1
    seconds = max(early, late, 0.0)
    if seconds < ODD_SECONDS:
        return ok("its clock agrees with this machine's")
    direction = "behind" if early > late else "ahead of"
    what = f"its clock is {seconds:.0f} s {direction} this machine's"
    judge = fail if seconds >= WRONG_SECONDS else warn
    return judge(what, run="Compare both with a third: chronyc tracking, timedatectl; then run a time daemon")


def http_skew(date: str | None, asked: datetime.datetime, answered: datetime.datetime) -> Verdict | None:
    """Return what the Date header of an HTTP answer means, None where there is none that can be read."""
    try:
        server = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    return skew(server if server.tzinfo else server.replace(tzinfo=datetime.UTC), asked, answered)


def now() -> datetime.datetime:
    """Return this machine's time."""
    return datetime.datetime.now(datetime.UTC)
