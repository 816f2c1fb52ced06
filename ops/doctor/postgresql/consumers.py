"""Whether each component's own user can log in and do what it has to in its database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.network.reach import side_by_side
from ops.doctor.postgresql.probe import Connection, PostgresProbe, refusal
from ops.doctor.scratch import scratch_name

if TYPE_CHECKING:
    from ops.doctor.targets import Consumer, Login

_WIDE = ("rolsuper", "rolcreatedb", "rolcreaterole", "rolreplication", "rolbypassrls")
_ATTRIBUTES = {"rolsuper": "SUPERUSER"} | {name: name.removeprefix("rol").upper() for name in _WIDE[1:]}


@check(
    "postgresql-consumers",
    "postgresql",
    why="A component whose user cannot log in, or cannot create tables in its database, ends at each start.",
    run="Run the bootstrap Job anew, or make the user the owner of its own database.",
    needs=("postgresql-login", "postgresql-role", "postgresql-replication"),
    waits=4,
)
def consumers(probe: PostgresProbe) -> Verdicts:
    """Each consumer's login and database, and a scratch table in it."""
    return side_by_side(probe.target.consumers, lambda consumer: _look(probe, consumer))


def _look(probe: PostgresProbe, consumer: Consumer) -> Verdict:
    subject = f"data.consumers.{consumer.name}"
    user = consumer.login
    if user is None:
        return skip("its user is not there yet: the bootstrap Job makes it", subject=subject)
    try:
        with probe.connect(user, consumer.database) as session:
            return _use(session, consumer, user, subject)
    except psycopg.OperationalError as error:
        if probe.target.admin and not _is_known(probe, user):
            return skip(f"the user {user.user} is not there yet: the bootstrap Job makes it", subject=subject)
        verdict = refusal(user, consumer.database, error)
        return fail(verdict.what, run=verdict.run or "", subject=subject)


def _use(session: Connection, consumer: Consumer, user: Login, subject: str) -> Verdict:
    """Do what the component does at its start."""
    table = sql.Identifier(scratch_name())
    try:
        session.execute(sql.SQL("CREATE TABLE {table} (id bigint PRIMARY KEY)").format(table=table))
        session.execute(sql.SQL("DROP TABLE {table}").format(table=table))
    except psycopg.Error:
        return fail(
            f"{user.user} may not create and drop tables in {consumer.database}",
            run=f'Run ALTER DATABASE "{consumer.database}" OWNER TO "{user.user}"',
            subject=subject,
        )
    held = session.execute(
        "SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles "
        "WHERE rolname = current_user"
    ).fetchone()
    wide = [_ATTRIBUTES[name] for name, held_it in zip(_WIDE, held or (), strict=False) if held_it]
    if wide:
        return warn(
            f"{user.user} may do more than it needs: {', '.join(wide)}",
            why="Whoever gets hold of one component's password should get hold of that component's data only.",
            run=f'Run ALTER ROLE "{user.user}" {" ".join(f"NO{name}" for name in wide)}',
            subject=subject,
        )
    return ok(f"{user.user} can use {consumer.database}", subject=subject)


def _is_known(probe: PostgresProbe, user: Login) -> bool:
    """Return whether the server has a role of this name."""
    return bool(probe.query("SELECT 1 FROM pg_roles WHERE rolname = %s", user.user))
