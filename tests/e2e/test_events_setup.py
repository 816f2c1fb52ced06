"""The scripts of the Job that sets brokers up, run against real ones: twice, killed half-way, and refused."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError

from infra.components.data.events import flows, setup
from infra.settings.models.data.events import Queues, Topics
from tests.servers import kafka_program
from tests.servers.fixtures import Servers
from tests.servers.kafka import Kafka
from tests.servers.process import HOST, Login
from tests.servers.rabbitmq import RabbitMq
from tests.unit.core.parsing import parse

pytestmark = pytest.mark.e2e

TEAMS = ("vision", "language")
USERS = (flows.EXPORTER, flows.INFERENCE_LOGGER, *TEAMS)
TOPICS = parse(Topics, kubernetes={"partitions": 2}, training={"partitions": 1}, inferenceLogs={"partitions": 1})
KUBERNETES = "flotilla.kubernetes-events"
INFERENCE = "flotilla.inference-logs"
SECONDS = 300


class Run:
    """One run of a script, with the files and variables its Job would give it."""

    def __init__(self, folder: Path, script: str, files: dict[str, str], **variables: str) -> None:
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        self._command = ["/bin/sh", str(setup.SCRIPTS / script)]
        self._environment = {
            "PATH": os.environ["PATH"],
            "TMPDIR": str(folder),
            "WAIT_SECONDS": "30",
            "TLS_CERT": "",
            "TLS_KEY": "",
            "ADMIN_USERNAME_FILE": str(folder / "username"),
            "ADMIN_PASSWORD_FILE": str(folder / "password"),
            **variables,
        }

    def __call__(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._command, env=self._environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )

    def killed_after(self, word: str) -> None:
        """Run it, and kill it with all it started once it has said that it did something."""
        process = subprocess.Popen(
            self._command, env=self._environment, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert process.stdout
        assert any(word in line for line in process.stdout)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def kafka_run(kafka: Kafka, folder: Path, *, admin: Login | None = None, topics: Topics = TOPICS) -> Run:
    who = admin or kafka.admin
    return Run(
        folder,
        "kafka.sh",
        {
            "username": who.user,
            "password": who.password,
            "topics.txt": setup.topic_lines(flows.topics(topics, TEAMS)),
            "grants.txt": setup.grant_lines(flows.grants(topics, TEAMS), "User:{name}"),
        },
        BOOTSTRAP_SERVERS=kafka.bootstrap,
        TLS=str(kafka.tls is not None).lower(),
        TLS_CA=str(kafka.tls.authority) if kafka.tls else "",
        SASL_MECHANISM=kafka.mechanism if kafka.sasl else "",
        TOPICS_FILE=str(folder / "topics.txt"),
        GRANTS_FILE=str(folder / "grants.txt"),
        KAFKA_BIN=str(kafka_program.PROGRAM.ensure() / "bin"),
    )


def writes(kafka: Kafka, user: str, topic: str) -> bool:
    """Tell whether a user's message is acknowledged by all in-sync copies."""
    settings = kafka.client_settings(kafka.logins[user])
    with closing(KafkaProducer(**settings, acks="all", retries=0, max_block_ms=15_000)) as producer:
        try:
            producer.send(topic, b"{}").get(timeout=20)
        except KafkaError:
            return False
    return True


def reads(kafka: Kafka, user: str, topic: str, group: str) -> bool:
    """Tell whether a user gets a message of the topic."""
    settings = kafka.client_settings(kafka.logins[user])
    options: dict[str, Any] = {"group_id": group, "auto_offset_reset": "earliest", "consumer_timeout_ms": 15_000}
    with closing(KafkaConsumer(topic, **settings, **options)) as consumer:
        try:
            return next(iter(consumer), None) is not None
        except KafkaError:
            return False


@pytest.fixture(scope="module")
def broker(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Kafka:
    """Return the shared Kafka, set up: killed half-way first, then run to its end."""
    for user in USERS:
        kafka.create_user(user)
    folder = tmp_path_factory.mktemp("kafka")
    kafka_run(kafka, folder / "killed").killed_after("created topic")
    done = kafka_run(kafka, folder / "whole")()
    assert done.returncode == 0, done.stderr
    assert "created topic" in done.stdout
    return kafka


def test_kafka_is_left_as_it_is_by_a_second_run(broker: Kafka, tmp_path: Path) -> None:
    done = kafka_run(broker, tmp_path / "run")()

    said = done.stdout.splitlines()
    assert (done.returncode, said[-1]) == (0, "events: topics and permissions are as declared")
    assert not [line for line in said if line.startswith(("events: created", "events: permitted", "events: set"))]
    assert broker.admin.password not in done.stdout + done.stderr


def test_kafka_users_do_what_they_need_and_nothing_else(broker: Kafka) -> None:
    assert writes(broker, flows.EXPORTER, KUBERNETES)
    assert not reads(broker, flows.EXPORTER, KUBERNETES, "any")
    assert not writes(broker, flows.EXPORTER, INFERENCE)
    assert writes(broker, flows.INFERENCE_LOGGER, INFERENCE)

    assert writes(broker, "vision", "flotilla.team.vision.events")
    assert reads(broker, "vision", "flotilla.team.vision.events", "flotilla.team.vision.readers")
    assert not reads(broker, "vision", "flotilla.team.vision.events", "somebody-elses")
    assert not writes(broker, "vision", "flotilla.team.language.events")
    assert not writes(broker, "vision", "flotilla.team.vision.not-declared")
    assert not writes(broker, "vision", KUBERNETES)


def test_kafka_topics_are_brought_in_line(broker: Kafka, tmp_path: Path) -> None:
    changed = parse(
        Topics,
        kubernetes={"partitions": 4, "retentionHours": 24},
        training={"partitions": 1},
        inferenceLogs={"partitions": 1},
    )

    done = kafka_run(broker, tmp_path / "run", topics=changed)()

    assert done.returncode == 0, done.stderr
    assert f"gave topic {KUBERNETES} 4 partitions" in done.stdout
    assert f"set retention.ms=86400000 of topic {KUBERNETES}" in done.stdout
    assert "created" not in done.stdout
    back = kafka_run(broker, tmp_path / "back")()
    assert f"topic {KUBERNETES} has 4 partitions, wanted are 2: partitions cannot be taken away" in back.stderr


def test_kafka_topics_with_fewer_copies_are_refused_before_anything_changes(broker: Kafka, tmp_path: Path) -> None:
    broker.create_topic("few.training-events", replication=1)
    wanted = parse(Topics, prefix="few.", training={"partitions": 3})

    done = kafka_run(broker, tmp_path / "run", topics=wanted)()

    assert done.returncode == 1
    assert "topic few.training-events has 1 copies, wanted are 3: move its partitions" in done.stderr
    assert "created" not in done.stdout


def test_kafka_refusals_are_one_line_that_names_the_fault(broker: Kafka, tmp_path: Path) -> None:
    odd = broker.create_user("odd", 'a"b\\c$d e')

    wrong = kafka_run(broker, tmp_path / "wrong", admin=Login("admin", "not-it"))()
    lacking = kafka_run(broker, tmp_path / "lacking", admin=odd)()

    assert len(wrong.stderr.splitlines()) == len(lacking.stderr.splitlines()) == 1
    assert "Authentication failed" in wrong.stderr
    assert "cannot list permissions" in lacking.stderr
    assert "not authorized" in lacking.stderr.lower() or "authorization" in lacking.stderr.lower()


def test_kafka_without_permissions_is_refused(servers: Servers, tmp_path: Path) -> None:
    open_kafka = servers.kafka(brokers=1, acls=False, replication=1)

    done = kafka_run(open_kafka, tmp_path / "run")()

    assert done.returncode == 1
    assert "the brokers have no authorizer" in done.stderr
    assert "created" not in done.stdout


def rabbit_run(rabbitmq: RabbitMq, folder: Path, *, admin: Login | None = None) -> Run:
    who = admin or rabbitmq.admin
    queues = flows.queues(Queues(), "fleet", TEAMS)
    return Run(
        folder,
        "rabbitmq.sh",
        {
            "username": who.user,
            "password": who.password,
            "exporter": 'ex"p\\orter',
            "users.txt": "".join(f"{user} {folder / 'exporter' if user == flows.EXPORTER else ''}\n" for user in USERS),
            "requests.txt": setup.request_lines(queues, flows.accesses("fleet", TEAMS)),
        },
        MANAGEMENT=rabbitmq.management,
        TLS_CA=str(rabbitmq.tls.authority) if rabbitmq.tls else "",
        USERS_FILE=str(folder / "users.txt"),
        REQUESTS_FILE=str(folder / "requests.txt"),
    )


def test_rabbitmq_is_set_up_after_being_killed_and_left_alone_afterwards(rabbitmq: RabbitMq, tmp_path: Path) -> None:
    rabbit_run(rabbitmq, tmp_path / "killed").killed_after("created queue")
    whole = rabbit_run(rabbitmq, tmp_path / "whole")()
    again = rabbit_run(rabbitmq, tmp_path / "again")()

    assert whole.returncode == 0, whole.stderr
    assert "created permissions of vision in fleet.vision" in whole.stdout
    assert again.stdout.splitlines()[1:] == ["events: queues and permissions are as declared"]
    assert rabbitmq.api("GET", "/api/queues/fleet/kubernetes-events").json()["type"] == "quorum"
    policy = rabbitmq.api("GET", "/api/policies/fleet/kubernetes-events").json()
    assert policy["definition"] == {"message-ttl": 168 * 3_600_000, "overflow": "reject-publish"}


def test_rabbitmq_users_do_what_they_need_and_nothing_else(rabbitmq: RabbitMq, tmp_path: Path) -> None:
    assert rabbit_run(rabbitmq, tmp_path / "run")().returncode == 0
    granted = rabbitmq.api("GET", "/api/permissions").json()
    ours = {(each["user"], each["vhost"], each["write"], each["read"]) for each in granted if each["user"] in USERS}
    exporter = Login(flows.EXPORTER, 'ex"p\\orter')

    assert ours == {
        (flows.EXPORTER, "fleet", r"^amq\.default$", "^$"),
        (flows.INFERENCE_LOGGER, "fleet", r"^amq\.default$", "^$"),
        ("vision", "fleet.vision", ".*", ".*"),
        ("language", "fleet.language", ".*", ".*"),
    }
    assert rabbitmq.api("GET", "/api/whoami", login=exporter).status_code in (200, 401)
    assert rabbitmq.api("GET", "/api/whoami", login=Login("vision", "")).status_code == 401


def test_rabbitmq_refusals_are_one_line_that_names_the_fault(rabbitmq: RabbitMq, tmp_path: Path) -> None:
    plain = rabbitmq.create_user("plain", tags="management")

    wrong = rabbit_run(rabbitmq, tmp_path / "wrong", admin=Login("admin", "not-it"))()
    lacking = rabbit_run(rabbitmq, tmp_path / "lacking", admin=plain)()

    assert wrong.stderr == "events: error: the administrator is refused (401): the name or the password is wrong\n"
    assert "user plain lacks the tag administrator" in lacking.stderr
    assert HOST in wrong.stdout
