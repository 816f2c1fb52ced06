"""The doctor, on a good MariaDB server and on ones that are broken in one way each."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from ops.doctor.examine import Examination
from ops.doctor.mysql import WRITER
from ops.doctor.mysql.privileges import NEEDED
from ops.doctor.mysql.probe import MySqlProbe
from ops.doctor.scratch import PREFIX
from ops.doctor.targets import Consumer, MySqlTarget, Tls
from tests.e2e.doctor_cases import Case, Seen, address, examined, login, names, seen, wrong
from tests.servers.certificates import Authority
from tests.servers.fixtures import Servers
from tests.servers.mariadb import MariaDb
from tests.servers.process import Login

pytestmark = pytest.mark.e2e

NAME = "data.databases.mysql"
USERS = ("mlpipeline", "metadb")


@pytest.fixture(scope="module")
def server(module_servers: Servers, authority: Authority) -> MariaDb:
    """Return a server as the bootstrap Job leaves it; every test puts back what it changes."""
    settings = {"innodb-flush-log-at-trx-commit": "1", "character-set-server": "utf8mb4"}
    made = module_servers.mariadb(tls=authority.issue("doctor", "127.0.0.1"), settings=settings)
    for name in USERS:
        made.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        made.create_user(name, f"password-of-{name}", f"ALL ON {name}.*")
    return made


def target(server: MariaDb, **changes: Any) -> MySqlTarget:
    """Return a server as settings would declare it."""
    tls = Tls(mode="verify-full", ca=server.tls.authority.read_text()) if server.tls else Tls()
    consumers = (consumer("pipelines", "mlpipeline"), consumer("metadata", "metadb", old_client=True))
    return replace(
        MySqlTarget(
            name=NAME,
            hosts=(address(server.port),),
            tls=tls,
            admin=login(server.admin),
            consumers=consumers,
            connections=100,
        ),
        **changes,
    )


def consumer(name: str, database: str, user: Login | None = None, *, old_client: bool = False) -> Consumer:
    own = login(user or Login(database, f"password-of-{database}"))
    return Consumer(name=name, database=database, login=own, old_client=old_client)


def looked(target: MySqlTarget) -> Seen:
    return seen(examined(Examination(probe=MySqlProbe(target, target.hosts[0], 5), checks=WRITER)))


@contextmanager
def changed(server: MariaDb, **changes: Any) -> Generator[MySqlTarget]:
    yield target(server, **changes)


@contextmanager
def variable(name: str, value: str, server: MariaDb) -> Generator[MySqlTarget]:
    """Set a global variable."""
    [(before,)] = server.execute(f"SELECT @@GLOBAL.{name}")
    server.execute(f"SET GLOBAL {name} = {value}")
    try:
        yield target(server)
    finally:
        server.execute(
            f"SET GLOBAL {name} = '{before}'" if isinstance(before, str) else f"SET GLOBAL {name} = {before}"
        )


@contextmanager
def administrator(*grants: str, server: MariaDb, option: bool = True) -> Generator[MySqlTarget]:
    """Log in as an administrator with these grants only."""
    user = server.create_user("limited", None)
    for grant in grants:
        server.execute(f"GRANT {grant} ON *.* TO 'limited'@'%'{' WITH GRANT OPTION' if option else ''}")
    try:
        yield target(server, admin=login(user), consumers=())
    finally:
        server.execute("DROP USER 'limited'@'%'")


@contextmanager
def user_of(database: str, *grants: str, server: MariaDb, **options: Any) -> Generator[MySqlTarget]:
    """Let metadata come as another user."""
    user = server.create_user("other", "password-of-other", *grants, **options)
    try:
        yield target(server, consumers=(consumer("metadata", database, user, old_client=True),))
    finally:
        server.execute("DROP USER 'other'@'%'")


@contextmanager
def database(name: str, server: MariaDb) -> Generator[MySqlTarget]:
    """Give pipelines a database of another character set."""
    server.execute(f"CREATE DATABASE {name} CHARACTER SET latin1", f"GRANT ALL ON {name}.* TO 'mlpipeline'@'%'")
    try:
        own = Login("mlpipeline", "password-of-mlpipeline")
        server.execute("REVOKE ALL ON mlpipeline.* FROM 'mlpipeline'@'%'")
        yield target(server, consumers=(consumer("pipelines", name, own),))
    finally:
        server.execute(f"DROP DATABASE {name}", "GRANT ALL ON mlpipeline.* TO 'mlpipeline'@'%'")
        server.execute(f"REVOKE ALL ON {name}.* FROM 'mlpipeline'@'%'")


CASES: tuple[Case[MariaDb], ...] = (
    Case(
        name="the administrator's password is wrong",
        breaking=partial(changed, admin=wrong("admin")),
        seen=[
            (
                "fail",
                "mysql-login",
                "refuses the user admin of Secret data/user: wrong password, or no such user from here",
            )
        ],
    ),
    Case(
        name="nobody is named to log in",
        breaking=partial(changed, admin=None, consumers=()),
        seen=[("fail", "mysql-login", "there are no credentials to log in with")],
    ),
    Case(
        name="the server is read-only",
        breaking=partial(variable, "read_only", "ON"),
        seen=[("fail", "mysql-role", "is read-only (read_only=ON), and the settings send writes to it")],
    ),
    Case(
        name="the character set is latin1",
        breaking=partial(variable, "character_set_server", "latin1"),
        seen=[("fail", "mysql-charset", "the character set is latin1")],
    ),
    Case(
        name="the character set knows no characters beyond the first plane",
        breaking=partial(variable, "character_set_server", "utf8mb3"),
        seen=[("warn", "mysql-charset", "the character set is utf8mb3, which has no characters beyond U+FFFF")],
    ),
    Case(
        name="a consumer's database has another character set",
        breaking=partial(database, "old_database"),
        seen=[("fail", "mysql-charset", "the database old_database has the character set latin1")],
    ),
    Case(
        name="double quotes delimit names",
        breaking=partial(variable, "sql_mode", "'STRICT_TRANS_TABLES,ANSI_QUOTES'"),
        seen=[("fail", "mysql-sql-mode", "the SQL mode ANSI_QUOTES reads double-quoted texts as names")],
    ),
    Case(
        name="long values are cut off",
        breaking=partial(variable, "sql_mode", "''"),
        seen=[("warn", "mysql-sql-mode", "no strict SQL mode is set: values that are too long are cut off")],
    ),
    Case(
        name="every table must have a primary key",
        breaking=partial(variable, "innodb_force_primary_key", "ON"),
        seen=[
            (
                "fail",
                "mysql-primary-keys",
                "innodb_force_primary_key=ON demands a primary key of every table, and metadata makes one without",
            )
        ],
    ),
    Case(
        name="connections are fewer than the pools'",
        breaking=partial(variable, "max_connections", "40"),
        seen=[("fail", "mysql-connections", "max_connections is 40, and consumers may open 100")],
    ),
    Case(
        name="commits are not flushed",
        breaking=partial(variable, "innodb_flush_log_at_trx_commit", "2"),
        seen=[("warn", "mysql-durability", "commits may be lost with the machine (innodb_flush_log_at_trx_commit=2)")],
    ),
    Case(
        name="the administrator may not create databases",
        breaking=lambda server: administrator("SELECT, CREATE USER", server=server),
        seen=[
            ("fail", "mysql-privileges", "limited lacks the privilege CREATE"),
            ("fail", "mysql-privileges", "limited lacks the privilege GRANT OPTION"),
        ],
    ),
    Case(
        name="the administrator may not create users",
        breaking=lambda server: administrator("SELECT, CREATE, DROP", server=server),
        seen=[
            ("fail", "mysql-privileges", "limited lacks the privilege INDEX"),
            ("fail", "mysql-privileges", "limited lacks the privilege CREATE USER"),
        ],
    ),
    Case(
        name="the administrator may not grant",
        breaking=lambda server: administrator(NEEDED, server=server, option=False),
        seen=[("fail", "mysql-privileges", "limited lacks the privilege GRANT OPTION")],
    ),
    Case(
        name="a consumer's password is wrong",
        breaking=partial(
            changed, consumers=(Consumer(name="pipelines", database="mlpipeline", login=wrong("mlpipeline")),)
        ),
        seen=[
            (
                "fail",
                "mysql-consumers",
                "refuses the user mlpipeline of Secret data/user: wrong password, or no such user from here",
            )
        ],
    ),
    Case(
        name="a consumer's plugin is one that its client does not know",
        breaking=lambda server: user_of("metadb", "ALL ON metadb.*", server=server, plugin="mysql_old_password"),
        seen=[
            (
                "fail",
                "mysql-consumers",
                "the user other has an authentication plugin that clients here do not know (Server is running in "
                "--secure-auth mode, but 'other'@'127.0.0.1' has a password in the old format; please change the "
                "password to the new format)",
            )
        ],
    ),
    Case(
        name="a consumer's database is missing",
        breaking=lambda server: user_of("nowhere", "ALL ON nowhere.*", server=server),
        seen=[("fail", "mysql-consumers", "there is no database nowhere")],
    ),
    Case(
        name="a consumer may only read",
        breaking=lambda server: user_of("metadb", "SELECT ON metadb.*", server=server),
        seen=[("fail", "mysql-consumers", "other may not create and drop tables in metadb")],
    ),
    Case(
        name="a consumer may use every database",
        breaking=lambda server: user_of("metadb", "ALL ON *.*", server=server),
        seen=[("warn", "mysql-consumers", "other may do more than it needs: ALL PRIVILEGES on *.*")],
    ),
    Case(
        name="the authority is not the one that is trusted",
        breaking=partial(changed, tls=Tls(mode="verify-full")),
        seen=[
            (
                "fail",
                "tls",
                "the certificate comes from an authority that is not trusted, or an intermediate certificate is "
                "missing; it was issued by CN=flotilla-tests",
            )
        ],
    ),
)


def test_a_good_server_has_no_fault(server: MariaDb) -> None:
    assert looked(target(server)) == []


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_fault_is_named_where(server: MariaDb, case: Case[MariaDb]) -> None:
    with case.breaking(server) as broken:
        assert looked(broken) == case.seen


def test_an_administrator_with_what_the_advice_grants_has_no_fault(server: MariaDb) -> None:
    with administrator(NEEDED, server=server) as enough:
        assert looked(enough) == []


def test_nothing_stays_of_what_was_tried(server: MariaDb) -> None:
    looked(target(server))

    assert server.execute(f"SHOW DATABASES LIKE '{PREFIX}%'") == ()
    assert server.execute(f"SHOW TABLES LIKE '{PREFIX}%'", database="mlpipeline") == ()
    assert not [user for (user,) in server.execute("SELECT user FROM mysql.user") if user.startswith(PREFIX)]


def test_users_that_the_job_will_make_are_no_fault(server: MariaDb) -> None:
    later = Consumer(name="katib", database="katib", login=wrong("not-there-yet"))

    assert looked(target(server, consumers=(later,))) == []


def test_a_server_that_demands_tls_is_named_to_settings_without(servers: Servers, authority: Authority) -> None:
    server = servers.mariadb(tls=authority.issue("demanding", "127.0.0.1"), require_tls=True)

    found = looked(target(server, tls=Tls(), consumers=()))

    assert found == [("fail", "mysql-login", "accepts only TLS, and the settings say `disable`")]
