"""The doctor, on a good Kafka cluster and on ones that are broken in one way each."""

from __future__ import annotations

import gc
import logging
import warnings
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType

from ops.doctor.examine import Examination
from ops.doctor.kafka import CLUSTER
from ops.doctor.kafka.probe import KafkaProbe
from ops.doctor.scratch import PREFIX
from ops.doctor.targets import KafkaTarget, Tls, Topic
from tests.e2e.doctor_cases import Case, Seen, address, eventually, examined, login, names, seen, wrong
from tests.servers.certificates import Authority
from tests.servers.fixtures import Servers
from tests.servers.kafka import Kafka

pytestmark = pytest.mark.e2e

EXPORTER = "event-exporter"
HOUR = {"retention.ms": "3600000"}
EVENTS = Topic(name="events", partitions=3, retention_ms=3_600_000, principals=(f"User:{EXPORTER}",))


@pytest.fixture(scope="module", autouse=True)
def forgotten_sockets() -> Generator[None]:
    """Collect the sockets that kafka-python leaves open when a connection is refused, before pytest minds them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="module")
def server(module_servers: Servers, authority: Authority) -> Kafka:
    """Return a cluster as the Job leaves it; every test puts back what it changes."""
    tls = authority.issue("doctor-kafka", "127.0.0.1")
    made = module_servers.kafka(tls=tls, users={EXPORTER: None, "stranger": None})
    made.create_topic(EVENTS.name, config=HOUR)
    made.allow(EXPORTER, "WRITE", topic=EVENTS.name)
    return made


def target(server: Kafka, **changes: Any) -> KafkaTarget:
    return replace(
        KafkaTarget(
            name="data.events",
            bootstrap=tuple(address(port) for port in server.ports),
            tls=Tls(mode="verify-full", ca=server.tls.authority.read_text()) if server.tls else Tls(),
            mechanism="SCRAM-SHA-512",
            login=login(server.admin),
            writers=(login(server.logins[EXPORTER]),) if EXPORTER in server.logins else (),
            topics=(EVENTS, Topic(name="not-there-yet")),
            acls=True,
        ),
        **changes,
    )


def looked(target: KafkaTarget) -> Seen:
    return list(dict.fromkeys(seen(examined(Examination(probe=KafkaProbe(target, 5), checks=CLUSTER)))))


@contextmanager
def changed(server: Kafka, **changes: Any) -> Generator[KafkaTarget]:
    yield target(server, **changes)


@contextmanager
def made(name: str, server: Kafka, copies: int = 3, **config: str) -> Generator[KafkaTarget]:
    given = {key.replace("_", "."): value for key, value in config.items()}
    server.create_topic(name, replication=copies, config=HOUR | given)
    try:
        yield target(server, topics=(Topic(name=name, partitions=3, retention_ms=3_600_000),))
    finally:
        with closing(server.admin_client()) as client:
            client.delete_topics([name])


@contextmanager
def denied(server: Kafka) -> Generator[KafkaTarget]:
    pattern = ResourcePattern(ResourceType.TOPIC, EVENTS.name)
    rule = ACL(f"User:{EXPORTER}", "*", ACLOperation.WRITE, ACLPermissionType.DENY, pattern)
    with closing(server.admin_client()) as client:
        client.create_acls([rule])
        eventually(lambda: len(looked(target(server))) == 1)
        yield target(server)
        client.delete_acls([rule])


CASES: tuple[Case[Kafka], ...] = (
    Case(
        name="the administrator's password is wrong",
        breaking=partial(changed, login=wrong("admin"), writers=()),
        seen=[
            (
                "fail",
                "kafka-authentication",
                "refuses the user admin of Secret data/user: wrong password, or no such SCRAM-SHA-512 user",
            )
        ],
    ),
    Case(
        name="the exporter's password is wrong",
        breaking=partial(changed, writers=(wrong(EXPORTER),)),
        seen=[
            (
                "fail",
                "kafka-authentication",
                f"refuses the user {EXPORTER} of Secret data/user: wrong password, or no such SCRAM-SHA-512 user",
            )
        ],
    ),
    Case(
        name="the mechanism is not offered",
        breaking=partial(changed, mechanism="PLAIN", writers=()),
        seen=[("fail", "kafka-authentication", "does not offer PLAIN; it offers SCRAM-SHA-512")],
    ),
    Case(
        name="the settings declare no SASL",
        breaking=partial(changed, mechanism=None, login=None, writers=()),
        seen=[("fail", "kafka-authentication", "asks for SASL (SCRAM-SHA-512), and the settings declare none")],
    ),
    Case(
        name="the settings declare no TLS",
        breaking=partial(changed, tls=Tls(), writers=()),
        seen=[
            (
                "fail",
                "kafka-authentication",
                "does not speak Kafka's protocol in the clear: its listener may be one for TLS",
            )
        ],
    ),
    Case(
        name="a topic has one copy",
        breaking=lambda server: made("single", server, copies=1),
        seen=[
            ("fail", "kafka-topics", "has replication factor 1, 3 is declared"),
            (
                "fail",
                "kafka-topics",
                "3 partitions have fewer replicas in sync than min.insync.replicas (2): writes fail",
            ),
        ],
    ),
    Case(
        name="a topic acknowledges what one broker has",
        breaking=lambda server: made("hasty", server, min_insync_replicas="1"),
        seen=[("fail", "kafka-topics", "min.insync.replicas is 1, 2 is declared")],
    ),
    Case(
        name="a topic needs all brokers",
        breaking=lambda server: made("strict", server, min_insync_replicas="3"),
        seen=[
            ("fail", "kafka-topics", "min.insync.replicas is 3 of 3 copies: the loss of one broker stops all writes")
        ],
    ),
    Case(
        name="a topic forgets too early",
        breaking=lambda server: made("forgetful", server, retention_ms="60000"),
        seen=[("warn", "kafka-topics", "retention.ms is 60000, 3600000 is declared")],
    ),
    Case(
        name="a topic elects leaders that lack records",
        breaking=lambda server: made("unclean", server, unclean_leader_election_enable="true"),
        seen=[("fail", "kafka-topics", "allows unclean leader elections, which lose acknowledged records")],
    ),
    Case(
        name="a topic has too few partitions",
        breaking=partial(changed, topics=(replace(EVENTS, partitions=12),)),
        seen=[("fail", "kafka-topics", "has 3 partitions, 12 are declared")],
    ),
    Case(
        name="a topic cannot be made as declared",
        breaking=partial(changed, topics=(Topic(name="wide", replication=5),)),
        seen=[
            (
                "fail",
                "kafka-topics",
                "cannot be created as declared (Unable to replicate the partition 5 time(s): The target replication "
                "factor of 5 cannot be reached because only 3 broker(s) are registered.)",
            )
        ],
    ),
    Case(
        name="there are fewer brokers than copies",
        breaking=partial(changed, replication=4, topics=()),
        seen=[
            ("fail", "kafka-brokers", "3 brokers are alive, and 4 copies of each record are declared"),
            ("fail", "kafka-settings", "default.replication.factor is 3, less than 4"),
            ("fail", "kafka-settings", "offsets.topic.replication.factor is 3, less than 4"),
            (
                "fail",
                "kafka-round-trip",
                "a topic with 4 copies cannot be created (Unable to replicate the partition 4 time(s): The target "
                "replication factor of 4 cannot be reached because only 3 broker(s) are registered.)",
            ),
        ],
    ),
    Case(
        name="a writer has no permission",
        breaking=partial(changed, topics=(replace(EVENTS, principals=("User:stranger",)),)),
        seen=[("fail", "kafka-acls", "no ACL lets User:stranger write to it")],
    ),
    Case(
        name="a rule denies the writer",
        breaking=denied,
        seen=[("fail", "kafka-acls", f"an ACL denies User:{EXPORTER} WRITE")],
    ),
    Case(
        name="nobody may make a topic that is missing",
        breaking=partial(changed, administers=False, topics=(Topic(name="missing"),)),
        seen=[("fail", "kafka-topics", "is not there, and the settings name nobody to create it")],
    ),
)


def test_a_good_cluster_has_no_fault(server: Kafka) -> None:
    assert looked(target(server)) == []


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_fault_is_named_where(server: Kafka, case: Case[Kafka]) -> None:
    with case.breaking(server) as broken:
        assert looked(broken) == case.seen


def test_an_administrator_without_rights_is_named(server: Kafka) -> None:
    found = looked(target(server, login=login(server.logins["stranger"]), writers=(), topics=(EVENTS,)))

    assert found == [
        (
            "fail",
            "kafka-privileges",
            "User:stranger lacks CREATE, ALTER, DESCRIBE, ALTER_CONFIGS, DESCRIBE_CONFIGS on the cluster",
        ),
        ("fail", "kafka-topics", "User:stranger may not see it"),
    ]


def test_nothing_stays_of_what_was_tried(server: Kafka) -> None:
    looked(target(server))

    with closing(server.admin_client()) as client:
        eventually(lambda: not [name for name in client.list_topics() if name.startswith(PREFIX)])


def test_a_single_careless_broker_is_named_in_every_point(servers: Servers) -> None:
    settings = {"unclean.leader.election.enable": "true", "auto.create.topics.enable": "true"}
    single = servers.kafka(brokers=1, sasl=False, acls=False, settings=settings)

    found = looked(target(single, mechanism=None, login=None, topics=(), replication=2))

    assert found == [
        ("fail", "kafka-brokers", "1 brokers are alive, and 2 copies of each record are declared"),
        ("fail", "kafka-quorum", "1 controllers cannot lose one: 3 can"),
        ("fail", "kafka-settings", "default.replication.factor is 1, less than 2"),
        ("fail", "kafka-settings", "offsets.topic.replication.factor is 1, less than 2"),
        (
            "warn",
            "kafka-settings",
            "min.insync.replicas is 1: topics without their own acknowledge records that one broker has",
        ),
        ("fail", "kafka-settings", "unclean leader elections are allowed: acknowledged records are lost by them"),
        ("warn", "kafka-settings", "topics are created by accident: a mistyped name becomes a topic nobody reads"),
        ("fail", "kafka-acls", "no authorizer is in force: every client may do everything"),
    ] + [item for item in found if item[1] == "kafka-round-trip"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_lost_broker_is_named_with_its_controller(server: Kafka, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="kafka")  # a kept record keeps its error, and that the open socket
    server.kill(2)
    alone = target(server, topics=(EVENTS,))
    expected = [
        ("fail", "tcp", "refuses connections: nothing listens there"),
        ("fail", "kafka-brokers", "2 brokers are alive, and 3 copies of each record are declared"),
        ("fail", "kafka-quorum", "1 of 3 controllers no longer follow the leader: 2"),
        ("warn", "kafka-topics", "3 partitions lack replicas in sync"),
    ]

    try:
        # The brokers that live need some seconds to notice.
        eventually(lambda: looked(alone) == expected)
    finally:
        server.start(2)
