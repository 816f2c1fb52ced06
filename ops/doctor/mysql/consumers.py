"""Whether each component's own user can log in, with a plugin it knows, and do what it has to in its database."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pymysql

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.mysql.privileges import GRANTED
from ops.doctor.mysql.probe import ACCESS_DENIED, MySqlProbe, code_of, refusal, rows
from ops.doctor.mysql.settings import NATIVE
from ops.doctor.network.reach import side_by_side
from ops.doctor.scratch import scratch_name

if TYPE_CHECKING:
    from pymysql.connections import Connection
    from pymysql.cursors import Cursor

    from ops.doctor.targets import Consumer, Login

_UNKNOWN_DATABASE = 1049
_WITH = re.compile(r"IDENTIFIED (?:WITH|VIA) [`']?(\w+)", re.IGNORECASE)


@check(
    "mysql-consumers",
    "mysql",
    why="A component whose user cannot log in, or cannot create tables in its database, ends at each start.",
    run="Run the bootstrap Job anew, or grant the user what it needs on its own database and on no other.",
    needs=("mysql-login", "mysql-role"),
    waits=4,
)
def consumers(probe: MySqlProbe) -> Verdicts:
    """Each consumer's login, authentication plugin and database, and a scratch table in it."""
    return side_by_side(probe.target.consumers, lambda consumer: _look(probe, consumer))


def _look(probe: MySqlProbe, consumer: Consumer) -> Verdict:
    subject = f"data.consumers.{consumer.name}"
    user = consumer.login
    if user is None:
        return skip("its user is not there yet: the bootstrap Job makes it", subject=subject)
    try:
        with probe.connect(user) as session:
            return _use(session, consumer, user, subject)
    except (pymysql.err.MySQLError, RuntimeError) as error:
        if probe.target.admin and code_of(error) in ACCESS_DENIED and not _is_known(probe, user):
            return skip(f"the user {user.user} is not there yet: the bootstrap Job makes it", subject=subject)
        verdict = refusal(user, error)
        return fail(verdict.what, run=verdict.run or "", subject=subject)


def _use(session: Connection[Cursor], consumer: Consumer, user: Login, subject: str) -> Verdict:
    """Do what the component does at its start."""
    plugin = _plugin(session)
    if consumer.old_client and plugin not in (None, NATIVE):
        return fail(
            f"the user {user.user} is identified with {plugin}, which {consumer.name} does not know",
            why="ML Metadata's client knows only mysql_native_password, and ends with an unexplained login failure.",
            run=f"Run ALTER USER '{user.user}'@'%' IDENTIFIED WITH {NATIVE} BY '...', with the Secret's password",
            subject=subject,
        )
    table = f"`{consumer.database}`.`{scratch_name()}`"
    grant = f"GRANT {GRANTED} ON `{consumer.database}`.* TO '{user.user}'@'%'"
    try:
        rows(session, f"CREATE TABLE {table} (id BIGINT PRIMARY KEY)")
        rows(session, f"DROP TABLE {table}")
    except pymysql.err.MySQLError as error:
        if code_of(error) == _UNKNOWN_DATABASE:
            return fail(
                f"there is no database {consumer.database}",
                run="Run the bootstrap Job, or create it with the character set utf8mb4",
                subject=subject,
            )
        return fail(
            f"{user.user} may not create and drop tables in {consumer.database}", run=f"Run {grant}", subject=subject
        )
    if wide := _elsewhere(session, consumer.database):
        return warn(
            f"{user.user} may do more than it needs: {wide}",
            why="Whoever gets hold of one component's password should get hold of that component's data only.",
            run=f"Run REVOKE ALL PRIVILEGES ON *.* FROM '{user.user}'@'%', then {grant}",
            subject=subject,
        )
    return ok(f"{user.user} can use {consumer.database}, and nothing else", subject=subject)


def _plugin(session: Connection[Cursor]) -> str | None:
    """Return the plugin that the session's user is identified with, None where it is not told."""
    try:
        [[statement]] = rows(session, "SHOW CREATE USER CURRENT_USER()")
    except pymysql.err.MySQLError:
        return None
    found = _WITH.search(str(statement))
    return found[1] if found else NATIVE  # MariaDB leaves out its default


def _elsewhere(session: Connection[Cursor], database: str) -> str | None:
    """Return privileges beyond the user's own database, as they were granted."""
    own = {f"`{database}`".lower(), f"`{database}`".replace("_", "\\_").lower()}
    for [text] in rows(session, "SHOW GRANTS"):
        found = re.match(r"GRANT (.+?) ON (\S+?)\.(\S+) TO", str(text))
        if found and found[1] != "USAGE" and found[2].lower() not in own:
            return f"{found[1] if len(found[1]) < 60 else 'many privileges'} on {found[2]}.{found[3]}"
    return None


def _is_known(probe: MySqlProbe, user: Login) -> bool:
    """Return whether the server has a user of this name, as far as the administrator can see."""
    try:
        return bool(probe.query("SELECT 1 FROM mysql.user WHERE user = %s", user.user))
    except pymysql.err.MySQLError:
        return True
