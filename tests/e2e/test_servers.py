"""The tests' own real servers: they start whole, can be broken in the ways tests need, and never stay behind."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import psycopg
import pymysql
import pytest
from minio.error import S3Error

from infra.paths import ROOT
from tests.e2e.objects import eventually

if TYPE_CHECKING:
    from tests.servers.certificates import Authority
    from tests.servers.fixtures import Servers
    from tests.servers.kafka import Kafka
    from tests.servers.minio import MinIo
    from tests.servers.rabbitmq import RabbitMq

pytestmark = pytest.mark.e2e

_STARTS_AND_WAITS = """
import sys, time
from pathlib import Path
from tests.servers.postgresql import PostgreSql
server = PostgreSql(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_server_ends_with_the_run_that_started_it(servers_folder: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", _STARTS_AND_WAITS, str(servers_folder / f"left-{number.name}")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as run:
        assert run.stdout is not None
        server = psutil.Process(int(run.stdout.readline()))
        family = [server, *server.children(recursive=True)]
        run.send_signal(number)
    eventually(lambda: not any(_lives(process) for process in family))


def test_mariadb_replica_follows_and_refuses_to_write(servers: Servers) -> None:
    primary = servers.mariadb(settings={"log-bin": "binary"})
    replica = servers.mariadb(server_id=2, read_only=True)
    replica.replicate_from(primary)
    primary.execute("CREATE DATABASE made", "CREATE TABLE made.t (id INT PRIMARY KEY)")

    eventually(lambda: bool(replica.execute("SHOW DATABASES LIKE 'made'")))
    login = primary.create_user("writer", None, "ALL ON made.*")
    eventually(lambda: bool(replica.execute("SELECT 1 FROM mysql.global_priv WHERE User = 'writer'")))
    with (
        replica.connect(user=login.user, password=login.password, database="made") as connection,
        connection.cursor() as cursor,
        pytest.raises(pymysql.err.MySQLError, match="read-only"),
    ):
        cursor.execute("CREATE TABLE other (id INT)")


def test_mariadb_users_authenticate_as_told(servers: Servers) -> None:
    server = servers.mariadb()
    login = server.create_user("socket", plugin="unix_socket")
    with pytest.raises(pymysql.err.OperationalError, match="Access denied"):
        server.connect(user=login.user, password=login.password)


def test_postgresql_standby_follows_and_refuses_to_write(servers: Servers) -> None:
    primary = servers.postgresql()
    standby = servers.standby(primary)
    primary.execute("CREATE TABLE t (id INT)")

    eventually(lambda: standby.execute("SELECT to_regclass('t')")[0][0] is not None)
    assert standby.execute("SELECT pg_is_in_recovery()") == [(True,)]
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        standby.execute("CREATE TABLE other (id INT)")


def test_postgresql_keeps_its_data_when_killed(servers: Servers) -> None:
    server = servers.postgresql(encryption="md5")
    server.execute("CREATE TABLE t AS SELECT 1")
    server.kill()
    assert not server.running

    server.start()

    assert server.execute("SELECT * FROM t") == [(1,)]


def test_expired_certificate_is_refused_by_clients(servers: Servers, authority: Authority) -> None:
    server = servers.postgresql(tls=authority.issue("expired", "127.0.0.1", expired=True))
    with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
        server.execute("SELECT 1")
    server.connect(sslmode="require").close()


def test_kafka_has_three_brokers_and_keeps_users_out_of_what_they_were_not_allowed(kafka: Kafka) -> None:
    login = kafka.create_user("nobody")
    kafka.create_topic("private")
    with closing(kafka.admin_client()) as client:
        assert len(client.describe_cluster()["brokers"]) == 3

    from kafka import KafkaProducer
    from kafka.errors import TopicAuthorizationFailedError

    with (
        closing(KafkaProducer(**kafka.client_settings(login), max_block_ms=20000)) as producer,
        pytest.raises(TopicAuthorizationFailedError),
    ):
        producer.send("private", b"x").get(30)


def test_rabbitmq_user_may_do_what_it_was_permitted(rabbitmq: RabbitMq) -> None:
    rabbitmq.create_vhost("team")
    rabbitmq.declare_queue("team", "events")
    login = rabbitmq.create_user("reader", tags="management")
    assert rabbitmq.api("GET", "/api/queues/team", login=login).status_code == 401

    rabbitmq.permit("reader", "team", configure="^$", write="^$")

    (queue,) = rabbitmq.api("GET", "/api/queues/team", login=login).json()
    assert (queue["name"], queue["arguments"]["x-queue-type"]) == ("events", "quorum")


def test_minio_user_may_do_what_its_policy_says(minio: MinIo) -> None:
    minio.create_bucket("reports")
    minio.client().put_object("reports", "one", io.BytesIO(b"content"), 7)
    reading = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::reports/*"]}
    login = minio.create_user("reports-reader", policy={"Version": "2012-10-17", "Statement": [reading]})

    client = minio.client(login)
    with closing(client.get_object("reports", "one")) as answer:
        assert answer.read() == b"content"
    with pytest.raises(S3Error, match="AccessDenied"):
        client.put_object("reports", "two", io.BytesIO(b""), 0)


def test_minio_bucket_policy_lets_everybody_read(minio: MinIo) -> None:
    minio.create_bucket("public")
    everybody = {"AWS": ["*"]}
    reading = {
        "Effect": "Allow",
        "Principal": everybody,
        "Action": ["s3:GetObject"],
        "Resource": ["arn:aws:s3:::public/*"],
    }
    minio.set_bucket_policy("public", {"Version": "2012-10-17", "Statement": [reading]})

    assert "s3:GetObject" in json.dumps(json.loads(minio.client().get_bucket_policy("public")))


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
