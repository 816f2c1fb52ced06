"""Whether a MySQL server lets the user in, and what time it has."""

from __future__ import annotations

import datetime

import pymysql

from ops.doctor.check import Verdicts, check, fail, ok, skip
from ops.doctor.mysql.probe import MySqlProbe, refusal
from ops.doctor.network import clock as clocks


@check(
    "mysql-login",
    "mysql",
    why="The bootstrap Job and every component log in at their start, and end when they cannot.",
    run="Correct the Secret that the settings name, or the user at the server.",
    needs=("tcp", "tls"),
    waits=2,
)
def login(probe: MySqlProbe) -> Verdicts:
    """Whether the administrator of the settings, else the first consumer's user, can log in."""
    user = probe.login
    if user is None:
        yield fail(
            "there are no credentials to log in with",
            why="Without them nothing inside the server could be checked.",
            run="Name `admin` credentials, or credentials of the consumers",
        )
        return
    try:
        probe.open(user)
    except (pymysql.err.MySQLError, RuntimeError) as error:
        yield refusal(user, error)
        return
    cipher = probe.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
    encrypted = bool(cipher and cipher[0][1])
    yield ok(f"logged in as {user.user}, {'encrypted' if encrypted else 'not encrypted'}")


@check("mysql-clock", "mysql", why=clocks.WHY, run=clocks.RUN, needs=("mysql-login",))
def clock(probe: MySqlProbe) -> Verdicts:
    """How far the server's clock is from this machine's."""
    asked = clocks.now()
    [[server]] = probe.query("SELECT UTC_TIMESTAMP(6)")
    if not isinstance(server, datetime.datetime):
        yield skip("the server tells no time")
        return
    yield clocks.skew(server.replace(tzinfo=datetime.UTC), asked, clocks.now())
