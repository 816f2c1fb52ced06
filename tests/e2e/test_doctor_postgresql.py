"""The doctor, on a good PostgreSQL server and on ones that are broken in one way each."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from ops.doctor.examine import Examination
from ops.doctor.postgresql import WRITER
from ops.doctor.postgresql.probe import PostgresProbe
from ops.doctor.scratch import PREFIX
from ops.doctor.targets import Consumer, PostgresTarget, Tls
from tests.e2e.doctor_cases import Case, Seen, address, eventually, examined, login, names, seen, wrong
from tests.servers.certificates import Authority
from tests.servers.fixtures import Servers
from tests.servers.postgresql import PostgreSql
from tests.servers.process import Login

pytestmark = pytest.mark.e2e

NAME = "data.databases.postgresql"
DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
HBA = (
    "host all trusted 0.0.0.0/0 trust",
    "host all hashed 0.0.0.0/0 md5",
    "host all unwanted 0.0.0.0/0 reject",
)


@pytest.fixture(scope="module")
def server(module_servers: Servers, authority: Authority) -> PostgreSql:
    """Return a server as the bootstrap Job leaves it; every test puts back what it changes."""
    made = module_servers.postgresql(tls=authority.issue("doctor-pg", "127.0.0.1"), hba=HBA, settings=DURABLE)
    made.create_user("katib", "password-of-katib")
    made.execute("CREATE DATABASE katib")
    made.execute("GRANT USAGE, CREATE ON SCHEMA public TO katib", database="katib")
    return made


def target(server: PostgreSql, **changes: Any) -> PostgresTarget:
    """Return a server as settings would declare it."""
    katib = login(Login("katib", "password-of-katib"))
    return replace(
        PostgresTarget(
            name=NAME,
            hosts=(address(server.port),),
            tls=Tls(mode="verify-full", ca=server.tls.authority.read_text()) if server.tls else Tls(),
            admin=login(server.admin),
            consumers=(Consumer(name="katib", database="katib", login=katib),),
            connections=10,
        ),
        **changes,
    )


def looked(target: PostgresTarget) -> Seen:
    return seen(examined(Examination(probe=PostgresProbe(target, target.hosts[0], 5), checks=WRITER)))


@contextmanager
def changed(server: PostgreSql, **changes: Any) -> Generator[PostgresTarget]:
    yield target(server, **changes)


@contextmanager
def setting(name: str, value: str, server: PostgreSql) -> Generator[PostgresTarget]:
    """Change a setting that needs no restart."""
    server.execute(f"ALTER SYSTEM SET {name} = '{value}'")
    reload(server, name)
    try:
        yield target(server)
    finally:
        server.execute(f"ALTER SYSTEM RESET {name}")
        reload(server, name)


def reload(server: PostgreSql, name: str) -> None:
    """Wait until new connections see what was set."""
    before = server.execute("SELECT pg_conf_load_time()")
    server.execute("SELECT pg_reload_conf()")
    eventually(lambda: server.execute("SELECT pg_conf_load_time()") != before)


@contextmanager
def administrator(attributes: str, server: PostgreSql, name: str = "limited") -> Generator[PostgresTarget]:
    """Log in as an administrator with these attributes only."""
    user = server.create_user(name)
    server.execute(f"ALTER ROLE {name} {attributes}")
    try:
        yield target(server, admin=login(user), consumers=())
    finally:
        server.execute(f"DROP ROLE {name}")


@contextmanager
def user_of(database: str, attributes: str, server: PostgreSql, *, grant: bool = True) -> Generator[PostgresTarget]:
    """Let Katib come as another user."""
    user = server.create_user("other")
    server.execute(f"ALTER ROLE other {attributes}")
    if grant:
        server.execute("GRANT USAGE, CREATE ON SCHEMA public TO other", database="katib")
    try:
        yield target(server, consumers=(Consumer(name="katib", database=database, login=login(user)),))
    finally:
        server.execute("DROP OWNED BY other", database="katib")
        server.execute("DROP ROLE other")


@contextmanager
def ascii_database(server: PostgreSql) -> Generator[PostgresTarget]:
    """Give Katib a database that checks no characters."""
    server.execute("CREATE DATABASE old ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0 OWNER katib")
    katib = login(Login("katib", "password-of-katib"))
    try:
        yield target(server, consumers=(Consumer(name="katib", database="old", login=katib),))
    finally:
        server.execute("DROP DATABASE old")


@contextmanager
def md5_password(server: PostgreSql) -> Generator[PostgresTarget]:
    """Log in with a password that is kept as MD5."""
    with setting("password_encryption", "md5", server):
        user = server.create_user("hashed")
    server.execute("ALTER ROLE hashed CREATEDB CREATEROLE")
    try:
        yield target(server, admin=login(user), consumers=())
    finally:
        server.execute("DROP ROLE hashed")


CASES: tuple[Case[PostgreSql], ...] = (
    Case(
        name="the administrator's password is wrong",
        breaking=partial(changed, admin=wrong("admin")),
        seen=[
            ("fail", "postgresql-login", "refuses the user admin of Secret data/user: wrong password, or no such user")
        ],
    ),
    Case(
        name="pg_hba.conf lets the user not in",
        breaking=lambda server: administrator("CREATEDB CREATEROLE", server, "unwanted"),
        seen=[
            (
                "fail",
                "postgresql-login",
                "pg_hba.conf lets unwanted not into postgres from this address with TLS",
            )
        ],
    ),
    Case(
        name="whoever says to be the administrator is let in",
        breaking=lambda server: administrator("CREATEDB CREATEROLE", server, "trusted"),
        seen=[
            (
                "fail",
                "postgresql-auth-method",
                "lets trusted in without asking for a password (`trust` in pg_hba.conf)",
            )
        ],
    ),
    Case(
        name="the administrator's password is kept as MD5",
        breaking=md5_password,
        seen=[("warn", "postgresql-auth-method", "hashed has an MD5 password")],
    ),
    Case(
        name="new passwords are kept as MD5",
        breaking=partial(setting, "password_encryption", "md5"),
        seen=[("warn", "postgresql-auth-method", "hashes new passwords with md5")],
    ),
    Case(
        name="transactions are read-only",
        breaking=partial(setting, "default_transaction_read_only", "on"),
        seen=[
            (
                "fail",
                "postgresql-role",
                "transactions are read-only by default, and the settings send writes to it",
            )
        ],
    ),
    Case(
        name="commits wait for a standby that is gone",
        breaking=partial(setting, "synchronous_standby_names", "gone"),
        seen=[
            (
                "fail",
                "postgresql-replication",
                "commits wait for synchronous standbys (gone), and none is connected",
            )
        ],
    ),
    Case(
        name="a crash corrupts the database",
        breaking=partial(setting, "fsync", "off"),
        seen=[("fail", "postgresql-durability", "a crash corrupts the database (fsync=off)")],
    ),
    Case(
        name="backslashes are escapes",
        breaking=partial(setting, "standard_conforming_strings", "off"),
        seen=[
            (
                "fail",
                "postgresql-dialect",
                "standard_conforming_strings is off: backslashes in texts are taken as escapes",
            )
        ],
    ),
    Case(
        name="transactions are serializable",
        breaking=partial(setting, "default_transaction_isolation", "serializable"),
        seen=[
            (
                "warn",
                "postgresql-dialect",
                "transactions are serializable by default, and may end with errors that components do not retry",
            )
        ],
    ),
    Case(
        name="connections are fewer than the pools'",
        breaking=partial(changed, connections=5000),
        seen=[
            (
                "fail",
                "postgresql-connections",
                "97 connections are to be had (max_connections less the reserved), and consumers may open 5000",
            )
        ],
    ),
    Case(
        name="the administrator may not create databases",
        breaking=lambda server: administrator("CREATEROLE", server),
        seen=[("fail", "postgresql-privileges", "limited lacks the attribute CREATEDB")],
    ),
    Case(
        name="the administrator may not create roles",
        breaking=lambda server: administrator("CREATEDB", server),
        seen=[("fail", "postgresql-privileges", "limited lacks the attribute CREATEROLE")],
    ),
    Case(
        name="a consumer's password is wrong",
        breaking=partial(changed, consumers=(Consumer(name="katib", database="katib", login=wrong("katib")),)),
        seen=[
            (
                "fail",
                "postgresql-consumers",
                "refuses the user katib of Secret data/user: wrong password, or no such user",
            )
        ],
    ),
    Case(
        name="a consumer's database is missing",
        breaking=lambda server: user_of("nowhere", "LOGIN", server),
        seen=[("fail", "postgresql-consumers", "there is no database nowhere")],
    ),
    Case(
        name="a consumer may not create tables",
        breaking=lambda server: user_of("katib", "LOGIN", server, grant=False),
        seen=[("fail", "postgresql-consumers", "other may not create and drop tables in katib")],
    ),
    Case(
        name="a consumer may create users",
        breaking=lambda server: user_of("katib", "CREATEROLE CREATEDB", server),
        seen=[("warn", "postgresql-consumers", "other may do more than it needs: CREATEDB, CREATEROLE")],
    ),
    Case(
        name="a consumer's database checks no characters",
        breaking=ascii_database,
        seen=[("fail", "postgresql-encoding", "the database old has the encoding SQL_ASCII")],
    ),
)


def test_a_good_server_has_no_fault(server: PostgreSql) -> None:
    assert looked(target(server)) == []


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_fault_is_named_where(server: PostgreSql, case: Case[PostgreSql]) -> None:
    with case.breaking(server) as broken:
        assert looked(broken) == case.seen


def test_an_administrator_with_what_the_advice_gives_has_no_fault(server: PostgreSql) -> None:
    with administrator("CREATEDB CREATEROLE", server) as enough:
        assert looked(enough) == []


def test_nothing_stays_of_what_was_tried(server: PostgreSql) -> None:
    looked(target(server))

    found = server.execute("SELECT datname FROM pg_database UNION SELECT rolname FROM pg_roles")
    assert not [name for (name,) in found if name.startswith(PREFIX)]
