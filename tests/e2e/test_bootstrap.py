"""The Job that prepares databases, run as a process pod on real servers: again, killed half-way, and what it grants."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import psycopg
import pymysql
import pytest

from infra.components.data.bootstrap import SECRETS
from tests.e2e import data_plane
from tests.e2e.data_plane import ADMINS, DataPlane
from tests.e2e.database_servers import SCHEMAS, Engine, MySql, Postgres
from tests.e2e.objects import eventually
from tests.servers.process import Login, new_password

if TYPE_CHECKING:
    from sandbox.api import Json
    from sandbox.cluster import Sandbox
    from tests.servers.certificates import Authority
    from tests.servers.mariadb import MariaDb
    from tests.servers.postgresql import PostgreSql

pytestmark = pytest.mark.e2e

E = TypeVar("E", bound=Engine)


@pytest.fixture(scope="module")
def plane(
    data_sandbox: Sandbox,
    mariadb: MariaDb,
    postgresql: PostgreSql,
    authority: Authority,
    tmp_path_factory: pytest.TempPathFactory,
) -> DataPlane:
    declared = data_plane.objects(tmp_path_factory.mktemp("data") / "values", {"databases": data_plane.databases()})
    plane = DataPlane(data_sandbox, declared)
    data_sandbox.outside = data_sandbox.outside | data_plane.outside(mariadb, postgresql)
    plane.put_authority(authority)
    plane.put_login(ADMINS["mysql"], mariadb.admin)
    plane.put_login(ADMINS["postgresql"], postgresql.admin)
    return plane


@pytest.fixture(scope="module")
def mysql(plane: DataPlane, mariadb: MariaDb) -> MySql:
    return _bootstrapped(plane, MySql(mariadb))


@pytest.fixture(scope="module")
def postgres(plane: DataPlane, postgresql: PostgreSql) -> Postgres:
    return _bootstrapped(plane, Postgres(postgresql))


def _bootstrapped(plane: DataPlane, engine: E) -> E:
    """Run the Job on a server that has nothing yet, and kill it when it is half-way; its next pod does the rest."""
    job = _job(plane, engine)
    name = f"bootstrap-{engine.name}-killed"
    plane.start(job, name)
    let_go = engine.hold_after_first()
    try:
        (pod,) = plane.pods(name)
        process = plane.process(pod)
        assert process is not None, "the Job had ended before it could be killed"
        process.kill()
        eventually(lambda: not process.is_running())
        assert engine.databases() != set(SCHEMAS[engine.name].values())
    finally:
        let_go()
    plane.finish(name)
    assert len(plane.pods(name)) > 1
    return engine


def _job(plane: DataPlane, engine: Engine) -> Json:
    job = plane.prepare_job(f"bootstrap-{engine.name}")
    for consumer, secret in data_plane.mounted(job, f"{SECRETS}/credentials/").items():
        if consumer not in engine.users:
            engine.users[consumer] = Login(f"{consumer.lower()}-user", new_password())
        plane.put_login(secret, engine.users[consumer])
    return job


@pytest.fixture(params=["mysql", "postgres"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.getfixturevalue(request.param)


def test_killed_half_way_the_next_pod_completes_what_was_begun(engine: Engine) -> None:
    assert engine.databases() == set(SCHEMAS[engine.name].values())


def test_run_again_and_again_changes_nothing(plane: DataPlane, engine: Engine) -> None:
    job, before = _job(plane, engine), engine.state()

    for attempt in ("second", "third"):
        log = plane.run(job, f"bootstrap-{engine.name}-{attempt}")

        assert engine.state() == before
        assert not [login.user for login in engine.users.values() if login.password in log]


def test_new_password_takes_the_place_of_the_old(plane: DataPlane, mysql: MySql) -> None:
    old = mysql.users["cache"]
    mysql.users["cache"] = Login(old.user, new_password())

    plane.run(_job(plane, mysql), "bootstrap-mysql-rotated")

    mysql.as_user("cache", "SELECT 1")
    with pytest.raises(pymysql.err.OperationalError, match="Access denied"):
        mysql.server.connect(user=old.user, password=old.password)


def test_what_a_user_got_by_hand_is_taken_away(plane: DataPlane, engine: Engine, mysql: MySql) -> None:
    before = engine.state()
    users = list(engine.users.values())
    if isinstance(engine, MySql):
        engine.server.execute(
            f"GRANT SELECT ON *.* TO '{users[0].user}'@'%' WITH GRANT OPTION",
            f"GRANT ALL ON metadb.* TO '{users[0].user}'@'%'",
        )
    elif isinstance(engine, Postgres):
        engine.server.execute(f'ALTER ROLE "{users[0].user}" CREATEDB CREATEROLE')
        engine.server.execute(f'GRANT CONNECT ON DATABASE model_catalog TO "{users[0].user}"')
    assert engine.state() != before

    plane.run(_job(plane, engine), f"bootstrap-{engine.name}-cleaned")

    assert engine.state() == before


@pytest.mark.parametrize("consumer", SCHEMAS["mysql"])
def test_mysql_user_can_do_what_its_consumer_needs(mysql: MySql, consumer: str) -> None:
    for statement in (
        "CREATE TABLE parent (id INT PRIMARY KEY, name VARCHAR(64))",
        "CREATE TABLE child (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES parent (id))",
        "CREATE TABLE keyless (name VARCHAR(64))",
        "INSERT INTO parent VALUES (1, 'a')",
        "UPDATE parent SET name = 'b' WHERE id = 1",
        "ALTER TABLE parent ADD COLUMN more TEXT",
        "CREATE INDEX names ON parent (name)",
        "SELECT * FROM parent FOR UPDATE",
        "DELETE FROM parent",
        "DROP TABLE child, keyless, parent",
    ):
        mysql.as_user(consumer, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "USE metadb",
        "CREATE DATABASE mlpipeline_other",
        "CREATE DATABASE mlpipelinex",
        "SELECT * FROM mysql.global_priv",
        "CREATE USER intruder",
        "GRANT SELECT ON mlpipeline.* TO 'cache-user'@'%'",
        "SET GLOBAL read_only = ON",
        "SHUTDOWN",
        "CREATE PROCEDURE p() SELECT 1",
        "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1",
        "SELECT 1 INTO OUTFILE '/tmp/flotilla-outfile'",
        "KILL 1",
    ],
)
def test_mysql_user_can_do_nothing_else(mysql: MySql, statement: str) -> None:
    with pytest.raises(pymysql.err.MySQLError, match=r"(?i)denied|not owner|unknown thread"):
        mysql.as_user("pipelines", statement)


def test_mysql_user_cannot_connect_unprotected(mysql: MySql) -> None:
    with pytest.raises(pymysql.err.OperationalError, match="Access denied"):
        mysql.as_user("pipelines", "SELECT 1", tls=False)


@pytest.mark.parametrize("consumer", SCHEMAS["postgresql"])
def test_postgresql_user_can_do_what_its_consumer_needs(postgres: Postgres, consumer: str) -> None:
    for statement in (
        "CREATE TABLE parent (id SERIAL PRIMARY KEY, name TEXT)",
        "CREATE TABLE child (id INT PRIMARY KEY, parent INT REFERENCES parent (id))",
        "INSERT INTO parent (name) VALUES ('a')",
        "UPDATE parent SET name = 'b'",
        "ALTER TABLE parent ADD COLUMN more JSONB",
        "CREATE INDEX names ON parent (name)",
        "CREATE TEMPORARY TABLE scratch AS SELECT * FROM parent",
        "DELETE FROM parent",
        "DROP TABLE child, parent",
    ):
        postgres.as_user(consumer, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE DATABASE other",
        "CREATE ROLE intruder",
        'ALTER ROLE "katib-user" SUPERUSER',
        "SET ROLE admin",
        "ALTER SYSTEM SET work_mem = '1MB'",
        "SELECT * FROM pg_authid",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "CREATE SCHEMA other",
        "SELECT pg_read_file('postgresql.conf')",
    ],
)
def test_postgresql_user_can_do_nothing_else(postgres: Postgres, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        postgres.as_user("katib", statement)


@pytest.mark.parametrize("database", ["model_registry", "model_catalog"])
def test_postgresql_user_cannot_enter_other_databases(postgres: Postgres, database: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="permission denied"):
        postgres.as_user("katib", "SELECT 1", database=database)
