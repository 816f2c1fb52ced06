"""Whether the administrator of a PostgreSQL server can do what the bootstrap Job will: it is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.postgresql.probe import NO_PRIVILEGE, READ_ONLY, Connection, PostgresProbe, Statement, message_of
from ops.doctor.scratch import scratch_name, scratch_password

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator


@check(
    "postgresql-privileges",
    "postgresql",
    why="The bootstrap Job creates roles and databases, and grants each role its own; what it may not do is "
    "found out here, not half-way.",
    run='ALTER ROLE "<administrator>" CREATEDB CREATEROLE.',
    needs=("postgresql-login", "postgresql-role", "postgresql-replication"),
    waits=4,
)
def privileges(probe: PostgresProbe) -> Verdicts:
    """What the administrator may do: creates a scratch role and database, grants, and drops them again."""
    if probe.target.admin is None:
        return [skip("the settings name no administrator: somebody else creates databases and users")]
    return list(_try(probe)) or [ok("may create databases and roles, and grant")]


def _try(probe: PostgresProbe) -> Iterator[Verdict]:
    """Yield what was refused."""
    name = scratch_name()
    admin = probe.target.admin
    user = admin.user if admin else ""
    scratch = sql.Identifier(name)
    password = sql.Literal(scratch_password())
    create_role = sql.SQL("CREATE ROLE {role} LOGIN PASSWORD {word}").format(role=scratch, word=password)
    create = sql.SQL("CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0").format(name=scratch)
    allow = sql.SQL("GRANT CONNECT, TEMPORARY ON DATABASE {name} TO {role}").format(name=scratch, role=scratch)
    inside = sql.SQL("GRANT USAGE, CREATE ON SCHEMA public TO {role}").format(role=scratch)
    made_role = made_database = False
    try:
        made_role = yield from _step(probe.session, "CREATEROLE", create_role, user)
        made_database = yield from _step(probe.session, "CREATEDB", create, user)
        if made_role and made_database and admin:
            yield from _step(probe.session, "CREATEDB", allow, user)
            with probe.connect(admin, name) as session:
                yield from _step(session, "CREATEDB", inside, user)
    finally:
        left = _remove(probe.session, name, database=made_database, role=made_role)
    if left:
        yield warn(f"what was made to try could not be removed again: {', '.join(left)}", run="; ".join(left))


def _step(session: Connection, attribute: str, statement: Statement, user: str) -> Generator[Verdict, None, bool]:
    """Run a statement; yield what a refusal means, return whether there was none."""
    try:
        session.execute(statement)
    except NO_PRIVILEGE:
        yield fail(
            f"{user} lacks the attribute {attribute}",
            run=f'Run as a superuser: ALTER ROLE "{user}" {attribute}',
        )
    except READ_ONLY:
        yield fail("refuses writes", run="Address the server that takes writes")
    except psycopg.Error as error:
        yield fail(f"refuses what {attribute} should allow ({message_of(error)})", run="Look at the server's log")
    else:
        return True
    return False


def _remove(session: Connection, name: str, *, database: bool, role: bool) -> list[str]:
    """Drop what was made, and return the statements that failed at it."""
    left: list[str] = []
    scratch = sql.Identifier(name)
    if database:
        left += _drop(session, sql.SQL("DROP DATABASE {name}").format(name=scratch))
    if role:
        left += _drop(session, sql.SQL("DROP ROLE {name}").format(name=scratch))
    return left


def _drop(session: Connection, statement: sql.Composed) -> list[str]:
    try:
        session.execute(statement)
    except psycopg.Error:
        return [statement.as_string(session)]
    return []
