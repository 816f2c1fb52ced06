"""The doctor, on a good RabbitMQ server and on ones that are broken in one way each."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from ops.doctor.examine import Examination
from ops.doctor.rabbitmq import CLUSTER
from ops.doctor.rabbitmq.probe import RabbitMqProbe
from ops.doctor.scratch import PREFIX
from ops.doctor.targets import RabbitMqTarget, Tls
from tests.e2e.doctor_cases import Case, Seen, address, eventually, examined, login, names, seen, wrong
from tests.servers.certificates import Authority
from tests.servers.fixtures import Servers
from tests.servers.process import Login
from tests.servers.rabbitmq import RabbitMq

pytestmark = pytest.mark.e2e

EXPORTER = Login("event-exporter", "password-of-event-exporter")
VHOST = "flotilla"
OLD = ("warn", "rabbitmq-version", "RabbitMQ 3.10.8 is no longer maintained")
"""What is said of every server here: Debian's release is not the newest."""


@pytest.fixture(scope="module")
def server(module_servers: Servers, authority: Authority) -> RabbitMq:
    """Return a server as the setup Job leaves it; every test puts back what it changes."""
    made = module_servers.rabbitmq(tls=authority.issue("doctor-rabbitmq", "127.0.0.1"))
    made.create_vhost(VHOST)
    made.create_user(EXPORTER.user, EXPORTER.password)
    made.permit(EXPORTER.user, VHOST, configure="^$", write=r"^amq\.default$", read="^$")
    made.declare_queue(VHOST, "kubernetes-events")
    made.declare_queue(VHOST, "classic", kind="classic")
    made.create_user("tagless", "password-of-tagless")
    made.create_user("watcher", "password-of-watcher", tags="monitoring")
    made.create_user("publisher", "password-of-publisher", tags="management")
    made.permit("publisher", VHOST, configure="^$", write=r"^amq\.default$", read="^$")
    made.create_user("stranger", "password-of-stranger")
    return made


def target(server: RabbitMq, **changes: Any) -> RabbitMqTarget:
    """Return a server as settings would declare it."""
    return replace(
        RabbitMqTarget(
            name="data.events",
            hosts=(address(server.tls_port if server.tls else server.port),),
            management=address(server.management_port),
            vhost=VHOST,
            login=login(EXPORTER),
            admin=login(server.admin),
            tls=Tls(mode="verify-full", ca=server.tls.authority.read_text()) if server.tls else Tls(),
            queues=((VHOST, "kubernetes-events"), (VHOST, "not-there-yet")),
            nodes=1,
        ),
        **changes,
    )


def looked(target: RabbitMqTarget) -> Seen:
    found = seen(examined(Examination(probe=RabbitMqProbe(target, 5), checks=CLUSTER)))
    return [item for item in found if item != OLD]


@contextmanager
def changed(server: RabbitMq, **changes: Any) -> Generator[RabbitMqTarget]:
    """Break the declaration."""
    yield target(server, **changes)


@contextmanager
def unable_to_write(server: RabbitMq) -> Generator[RabbitMqTarget]:
    """Take the exporter's permission to write."""
    server.permit(EXPORTER.user, VHOST, configure="^$", write="^$", read="^$")
    try:
        yield target(server)
    finally:
        server.permit(EXPORTER.user, VHOST, configure="^$", write=r"^amq\.default$", read="^$")


CASES: tuple[Case[RabbitMq], ...] = (
    Case(
        name="the administrator's password is wrong",
        breaking=partial(changed, admin=wrong("admin")),
        seen=[
            (
                "fail",
                "rabbitmq-api",
                "the management API refuses the user admin of Secret data/user: wrong password, or no such user",
            )
        ],
    ),
    Case(
        name="the administrator is none",
        breaking=partial(changed, admin=login(Login("watcher", "password-of-watcher"))),
        seen=[
            (
                "fail",
                "rabbitmq-api",
                "watcher lacks the tag administrator, and is to make virtual hosts and users",
            )
        ],
    ),
    Case(
        name="the administrator may not use the API",
        breaking=partial(changed, admin=login(Login("tagless", "password-of-tagless"))),
        seen=[("fail", "rabbitmq-api", "the user tagless may not use the management API")],
    ),
    Case(
        name="the exporter's password is wrong",
        breaking=partial(changed, login=wrong(EXPORTER.user)),
        seen=[
            (
                "fail",
                "rabbitmq-login",
                f"refuses the user {EXPORTER.user} of Secret data/user: wrong password, or no such user",
            )
        ],
    ),
    Case(
        name="the exporter has no permissions",
        breaking=partial(changed, login=login(Login("stranger", "password-of-stranger"))),
        seen=[("fail", "rabbitmq-login", "stranger has no permissions in virtual host flotilla")],
    ),
    Case(
        name="the exporter may not write",
        breaking=unable_to_write,
        seen=[("fail", "rabbitmq-login", f"{EXPORTER.user} may not publish in virtual host flotilla")],
    ),
    Case(
        name="the virtual host is missing",
        breaking=partial(changed, admin=None, login=login(Login("watcher", "password-of-watcher")), vhost="none"),
        seen=[
            ("fail", "rabbitmq-login", "there is no virtual host none"),
        ],
    ),
    Case(
        name="a queue is missing",
        breaking=partial(
            changed,
            admin=None,
            login=login(Login("publisher", "password-of-publisher")),
            queues=((VHOST, "missing"),),
        ),
        seen=[
            ("fail", "rabbitmq-queues", "is not there, and the settings name nobody to make it"),
        ],
    ),
    Case(
        name="a queue lives on one node",
        breaking=partial(changed, queues=((VHOST, "classic"),)),
        seen=[("fail", "rabbitmq-queues", "is a classic queue, which lives on one node")],
    ),
    Case(
        name="there are too few nodes",
        breaking=partial(changed, nodes=3),
        seen=[
            ("fail", "rabbitmq-cluster", "has 1 nodes, 3 are needed to lose one"),
            (
                "fail",
                "rabbitmq-quorum-queue",
                "a new quorum queue gets 1 members, 3 are needed to lose a node",
            ),
        ],
    ),
)


def test_a_good_server_has_no_fault(server: RabbitMq) -> None:
    assert looked(target(server)) == []


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_fault_is_named_where(server: RabbitMq, case: Case[RabbitMq]) -> None:
    with case.breaking(server) as broken:
        assert looked(broken) == case.seen


def test_what_the_job_will_make_is_no_fault(server: RabbitMq) -> None:
    later = Login("not-there-yet", "password-of-nobody")

    assert looked(target(server, vhost="later", login=login(later), queues=(("later", "events"),))) == []


def test_the_port_of_another_protocol_is_named(server: RabbitMq) -> None:
    found = looked(target(server, hosts=(address(server.management_port),)))

    assert found[0][:2] == ("fail", "rabbitmq-login")
    assert found[0][2].startswith("does not speak AMQP on this port")


def test_nothing_stays_of_what_was_tried(server: RabbitMq) -> None:
    looked(target(server))

    hosts = server.api("GET", "/api/vhosts").json()
    assert not [host["name"] for host in hosts if host["name"].startswith(PREFIX)]


def test_an_alarm_is_named_as_what_blocks_publishers(servers: Servers) -> None:
    server = servers.rabbitmq(settings={"vm_memory_high_watermark.absolute": "1MB"})
    server.create_vhost(VHOST)
    server.create_user(EXPORTER.user, EXPORTER.password)
    server.permit(EXPORTER.user, VHOST)

    def alarms() -> Seen:
        return [item for item in looked(target(server, queues=())) if item[1] == "rabbitmq-alarms"]

    eventually(lambda: bool(alarms()))
    [(status, _, what)] = alarms()
    assert status == "fail"
    assert what.endswith("is in alarm for memory: publishers are blocked")
