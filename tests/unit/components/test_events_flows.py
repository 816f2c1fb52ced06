"""What brokers are told of topics, queues and permissions, as the scripts of the Job read it."""

from __future__ import annotations

import json

from infra.components.data.events import flows, setup
from infra.settings.models.data.events import Queues, Topics

TEAMS = ("vision", "language")


def test_rabbitmq_requests_make_each_thing_before_what_needs_it() -> None:
    lines = setup.request_lines(flows.queues(Queues(), "fleet", TEAMS), flows.accesses("fleet", TEAMS)).splitlines()
    requests = [line.split("\t") for line in lines]
    order = [path.split("/")[0] for _, path, _ in requests]
    bodies = {path: json.loads(body) for _, path, body in requests}

    assert order.index("queues") > max(number for number, kind in enumerate(order) if kind == "vhosts")
    assert order.index("permissions") > max(number for number, kind in enumerate(order) if kind == "queues")
    assert bodies["queues/fleet/kubernetes-events"]["arguments"] == {"x-queue-type": "quorum"}
    assert bodies["policies/fleet/kubernetes-events"]["definition"]["message-ttl"] == 168 * 3_600_000
    assert bodies["permissions/fleet/event-exporter"] == {"configure": "^$", "write": r"^amq\.default$", "read": "^$"}
    assert bodies["permissions/fleet.vision/vision"]["read"] == ".*"


def test_virtual_hosts_are_encoded_in_addresses() -> None:
    assert "vhosts/a%2Fb\t" in setup.request_lines(flows.queues(Queues(), "a/b", ()), ())


def test_teams_of_similar_names_share_no_prefix() -> None:
    grants = list(flows.grants(Topics(), ("a", "ab")))
    prefixes = {grant.user: grant.name for grant in grants if grant.pattern == "prefix"}

    assert not prefixes["ab"].startswith(prefixes["a"])


def test_principals_follow_the_brokers_form() -> None:
    lines = setup.grant_lines(flows.grants(Topics(), ("vision",)), "User:CN={name},O=Example").splitlines()

    assert lines[0].split("\t") == [
        "User:CN=event-exporter,O=Example",
        "topic",
        "literal",
        "flotilla.kubernetes-events",
        "Write,Describe",
    ]
    assert "transactional-id\tprefixed\tflotilla.team.vision." in lines[-1]
