"""Whether the administrator of a MySQL server can do what the bootstrap Job will: it is tried."""

# ruff: noqa: S608 - names in statements are the doctor's own, letters and digits

from __future__ import annotations

from typing import TYPE_CHECKING

import pymysql

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.mysql.probe import NO_PRIVILEGE, READ_ONLY, MySqlProbe, code_of, message_of, rows
from ops.doctor.scratch import scratch_name, scratch_password

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pymysql.connections import Connection
    from pymysql.cursors import Cursor

GRANTED = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER"
"""What the bootstrap Job grants a consumer on its database, and the administrator must have to be able to."""

NEEDED = f"{GRANTED}, CREATE USER"


@check(
    "mysql-privileges",
    "mysql",
    why="The bootstrap Job creates databases and users, and grants each user its own database; what it may not do is "
    "found out here rather than half-way.",
    run=f"GRANT {NEEDED} ON *.* TO the administrator WITH GRANT OPTION.",
    needs=("mysql-login", "mysql-role"),
    waits=4,
)
def privileges(probe: MySqlProbe) -> Verdicts:
    """What the administrator may do: creates a scratch database, table and user, grants, and drops them again."""
    if probe.target.admin is None:
        return [skip("the settings name no administrator: somebody else creates databases and users")]
    with probe.connect(probe.target.admin) as session:
        return list(_try(probe, session)) or [ok("may create databases, tables and users, and grant")]


def _try(probe: MySqlProbe, session: Connection[Cursor]) -> Iterator[Verdict]:
    """Yield what was refused."""
    name = scratch_name()
    in_database = (
        ("CREATE", f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4"),
        ("CREATE", f"CREATE TABLE `{name}`.parent (id BIGINT PRIMARY KEY, name VARCHAR(255) NOT NULL)"),
        ("INDEX", f"CREATE INDEX by_name ON `{name}`.parent (name)"),
        ("ALTER", f"ALTER TABLE `{name}`.parent ADD COLUMN size BIGINT"),
        ("INSERT", f"INSERT INTO `{name}`.parent VALUES (1, 'one', 1)"),
        ("UPDATE", f"UPDATE `{name}`.parent SET size = 2 WHERE id = 1"),
        ("SELECT", f"SELECT id FROM `{name}`.parent"),
        ("DELETE", f"DELETE FROM `{name}`.parent WHERE id = 1"),
        ("REFERENCES", f"CREATE TABLE `{name}`.child (id BIGINT PRIMARY KEY REFERENCES `{name}`.parent (id))"),
        ("DROP", f"DROP TABLE `{name}`.child"),
    )
    for_users = (
        ("CREATE USER", f"CREATE USER '{name}'@'%' IDENTIFIED BY '{scratch_password()}'"),
        ("GRANT OPTION", f"GRANT {GRANTED} ON `{name}`.* TO '{name}'@'%'"),
    )
    try:
        for steps in (in_database, for_users):
            yield from _steps(probe, session, steps)
    finally:
        left = _remove(session, name)
    if left:
        yield warn(f"what was made to try could not be removed again: {', '.join(left)}", run="; ".join(left))


def _steps(probe: MySqlProbe, session: Connection[Cursor], steps: tuple[tuple[str, str], ...]) -> Iterator[Verdict]:
    """Run statements until one is refused, and yield what that means."""
    user = probe.target.admin.user if probe.target.admin else ""
    for privilege, statement in steps:
        try:
            rows(session, statement)
        except pymysql.err.MySQLError as error:
            code = code_of(error)
            if code in NO_PRIVILEGE:
                yield fail(
                    f"{user} lacks the privilege {privilege}",
                    run=f"Run as root: GRANT {NEEDED} ON *.* TO '{user}'@'%' WITH GRANT OPTION",
                )
            elif code in READ_ONLY:
                yield fail(f"refuses writes ({message_of(error)})", run="Address the server that takes writes")
            else:
                yield fail(f"refuses `{privilege}` ({code}: {message_of(error)})", run="Look at the server's error log")
            return


def _remove(session: Connection[Cursor], name: str) -> list[str]:
    """Drop what was made, and return the statements that failed at it."""
    left: list[str] = []
    for kind, statement in (
        ("user", f"DROP USER IF EXISTS '{name}'@'%'"),
        ("database", f"DROP DATABASE IF EXISTS `{name}`"),
    ):
        try:
            rows(session, statement)
        except pymysql.err.MySQLError:
            if _exists(session, kind, name):
                left.append(statement)
    return left


def _exists(session: Connection[Cursor], kind: str, name: str) -> bool:
    """Return whether something is known to exist; what cannot be seen is taken as gone."""
    if kind == "user":
        return False  # whoever may not drop users could not create one either
    try:
        return bool(rows(session, "SHOW DATABASES LIKE %s", name))
    except pymysql.err.MySQLError:
        return False
