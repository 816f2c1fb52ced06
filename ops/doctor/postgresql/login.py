"""Whether a PostgreSQL server lets the user in, how it makes sure who that is, and what time it has."""

from __future__ import annotations

import psycopg

from ops.doctor.check import Verdicts, check, fail, ok, skip, warn
from ops.doctor.network import clock as clocks
from ops.doctor.postgresql.probe import PostgresProbe, message_of, refusal

SCRAM = "scram-sha-256"


@check(
    "postgresql-login",
    "postgresql",
    why="The bootstrap Job and every component log in at their start, and end when they cannot.",
    run="Correct the Secret that the settings name, or the role and pg_hba.conf at the server.",
    needs=("tcp", "tls"),
    waits=2,
)
def login(probe: PostgresProbe) -> Verdicts:
    """Whether the administrator of the settings, else the first consumer's user, can log in."""
    known = probe.login
    if known is None:
        yield fail(
            "there are no credentials to log in with",
            why="Without them nothing inside the server could be checked.",
            run="Name `admin` credentials, or credentials of the consumers",
        )
        return
    user, database = known
    try:
        probe.open(user, database)
    except psycopg.OperationalError as error:
        yield refusal(user, database, error)
        return
    encrypted = probe.session.pgconn.ssl_in_use
    yield ok(f"logged in as {user.user}, {'encrypted' if encrypted else 'not encrypted'}")


@check("postgresql-clock", "postgresql", why=clocks.WHY, run=clocks.RUN, needs=("postgresql-login",))
def clock(probe: PostgresProbe) -> Verdicts:
    """How far the server's clock is from this machine's."""
    asked = clocks.now()
    [[server]] = probe.query("SELECT clock_timestamp()")
    yield clocks.skew(server, asked, clocks.now())


@check(
    "postgresql-auth-method",
    "postgresql",
    why="MD5 hashes of passwords can be replayed and are on their way out of PostgreSQL; `trust` and `password` let in "
    "whoever reaches the port or listens on the way.",
    run="Set password_encryption=scram-sha-256, set the passwords anew, and say scram-sha-256 in pg_hba.conf.",
    needs=("postgresql-login",),
    waits=2,
)
def auth_method(probe: PostgresProbe) -> Verdicts:
    """How the server authenticates: SCRAM, which it also hashes new passwords with."""
    known = probe.login
    if known is None or probe.files.certificate:
        yield skip("the client proves itself by its certificate")
        return
    try:
        probe.connect(*known, require_auth=SCRAM).close()
    except psycopg.OperationalError as error:
        text = message_of(error)
        if "did not complete authentication" in text:
            yield fail(
                f"lets {known[0].user} in without asking for a password (`trust` in pg_hba.conf)",
                run="Replace trust by scram-sha-256 in pg_hba.conf; then: SELECT pg_reload_conf()",
            )
        elif "hashed password" in text:
            yield warn(f"{known[0].user} has an MD5 password", run="Set its password anew, with scram-sha-256")
        elif "cleartext password" in text:
            yield fail(
                "asks for passwords in the clear (`password`, `ldap` or `pam` in pg_hba.conf)",
                run="Say scram-sha-256 in pg_hba.conf",
            )
        else:
            raise
        return
    if probe.settings["password_encryption"] == SCRAM:
        yield ok("authenticates with SCRAM")
    else:
        yield warn(
            f"hashes new passwords with {probe.settings['password_encryption']}",
            run=probe.client("ALTER SYSTEM SET password_encryption = 'scram-sha-256'"),
        )
