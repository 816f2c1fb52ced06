"""What a Kafka cluster is made of: version, brokers, controllers, and what it does by default."""

from __future__ import annotations

import contextlib
from typing import Any, cast

from kafka import errors
from kafka.admin import ConfigResource, ConfigResourceType

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.kafka.probe import KafkaProbe
from ops.doctor.network.endpoint import Endpoint, direct
from ops.doctor.network.reach import UnreachableError, open_connection, side_by_side
from ops.doctor.targets import Address

OLDEST, OLDEST_MAINTAINED = (3, 3), (3, 7)
QUORUM = 3
STALE_MS = 10_000
"""Milliseconds without a fetch after which a controller counts as lost: five times Kafka's own fetch timeout."""


@check(
    "kafka-version",
    "kafka",
    why="KRaft, which replaced ZooKeeper, is fit for production from 3.3 on; older releases get no fixes.",
    run="Upgrade the brokers, one at a time.",
    needs=("kafka-login",),
)
def version(probe: KafkaProbe) -> Verdicts:
    """The version that the brokers' protocol shows: at least 3.3."""
    found = min(probe.admin.get_broker_version_data(node["broker_id"]).broker_version for node in probe.brokers)
    name = f"Kafka {'.'.join(map(str, found))} or later"
    if found < OLDEST:
        yield fail(f"{name} is too old: at least 3.3", run="Upgrade the brokers")
    elif found < OLDEST_MAINTAINED:
        yield warn(f"{name} is no longer maintained", run="Upgrade the brokers")
    else:
        yield ok(name)


@check(
    "kafka-brokers",
    "kafka",
    why="Clients talk to each partition's leader, at the address it announces: one that cannot be reached from here "
    "loses its partitions' events, although the bootstrap works.",
    run="Correct advertised.listeners, and start the missing brokers.",
    needs=("kafka-login",),
)
def brokers(probe: KafkaProbe) -> Verdicts:
    """How many brokers there are, and whether each can be reached at the address it announces."""
    alive = probe.brokers
    wanted = probe.target.replication
    if len(alive) < wanted:
        yield fail(
            f"{len(alive)} brokers are alive, and {wanted} copies of each record are declared",
            run=f"Start or add brokers until there are {max(wanted, QUORUM)}",
        )
    elif len(alive) == wanted and wanted < QUORUM:
        yield warn(f"only {len(alive)} brokers are alive", run=f"Have {QUORUM}, one in each zone")
    else:
        yield ok(f"{len(alive)} brokers are alive")
    yield from side_by_side(alive, lambda node: _reach(probe, node))


def _reach(probe: KafkaProbe, node: dict[str, Any]) -> Verdict:
    address = Address(host=str(node["host"]), port=int(node["port"]))
    try:
        endpoint = Endpoint(name=probe.target.name, address=address, upgrade=direct)
        with contextlib.closing(open_connection(endpoint, probe.patience)):
            return ok(f"broker {node['broker_id']} can be reached at {address}")
    except UnreachableError as error:
        cause = error.__cause__
        return fail(
            f"broker {node['broker_id']} announces {address}, which cannot be reached from here "
            f"({getattr(cause, 'strerror', None) or cause})",
            run="Set advertised.listeners to a host and port that the cluster's nodes and this machine can reach",
        )


@check(
    "kafka-quorum",
    "kafka",
    why="The controllers elect partitions' leaders by majority: of one controller, or of three with one lost already, "
    "the next loss stops every failover.",
    run="Run three controllers; look at them: kafka-metadata-quorum.sh describe --status.",
    needs=("kafka-login",),
)
def quorum(probe: KafkaProbe) -> Verdicts:
    """The controllers: a leader, at least three voters, all of them following it."""
    try:
        answer = probe.admin.describe_metadata_quorum()
    except errors.ClusterAuthorizationFailedError:
        return [skip(f"{probe.user} may not look (DESCRIBE on the cluster)")]
    except errors.UnsupportedVersionError:
        return [fail("has no controller quorum: it still runs on ZooKeeper", run="Migrate it to KRaft")]
    state = cast("dict[str, Any]", answer["topics"][0]["partitions"][0])
    voters = state["current_voters"]
    if state["leader_id"] < 0:
        return [fail("the controllers have no leader", run="Start the missing controllers and look at their logs")]
    latest = max(voter["last_fetch_timestamp"] for voter in voters)
    lost = [voter for voter in voters if latest - voter["last_fetch_timestamp"] > STALE_MS]
    if lost:
        names = ", ".join(str(voter["replica_id"]) for voter in lost)
        return [
            fail(
                f"{len(lost)} of {len(voters)} controllers no longer follow the leader: {names}",
                run="Start them, and look at their logs",
            )
        ]
    if len(voters) < QUORUM:
        return [fail(f"{len(voters)} controllers cannot lose one: {QUORUM} can", run=f"Run {QUORUM} controllers")]
    if len(voters) % 2 == 0:
        return [
            warn(f"{len(voters)} controllers survive no more losses than {len(voters) - 1}", run="Run an odd number")
        ]
    return [ok(f"{len(voters)} controllers, led by {state['leader_id']}")]


@check(
    "kafka-settings",
    "kafka",
    why="An acknowledged event is safe when several brokers have it and only a broker that has it may lead; clients' "
    "positions are kept the same way.",
    run="Set default.replication.factor=3, offsets.topic.replication.factor=3, min.insync.replicas=2, "
    "unclean.leader.election.enable=false and auto.create.topics.enable=false.",
    needs=("kafka-login",),
)
def settings(probe: KafkaProbe) -> Verdicts:
    """The brokers' defaults: replication factors, min.insync.replicas, unclean elections, topics made by accident."""
    node = probe.brokers[0]["broker_id"]
    resource = ConfigResource(ConfigResourceType.BROKER, str(node))
    answer = probe.admin.describe_configs([resource], config_filter="all")
    found = {name: str(config["value"]) for name, config in answer["broker"][str(node)].items()}
    if not found:
        return [skip(f"{probe.user} may not look (DESCRIBE_CONFIGS on the cluster)")]
    return list(_judge(probe, found)) or [ok("defaults keep every record on several brokers")]


def _judge(probe: KafkaProbe, found: dict[str, str]) -> Verdicts:
    wanted = probe.target.replication
    for name in ("default.replication.factor", "offsets.topic.replication.factor"):
        if int(found.get(name, wanted)) < wanted:
            yield fail(f"{name} is {found[name]}, less than {wanted}", run=f"Set {name}={wanted} on every broker")
    if wanted > 1 and found.get("min.insync.replicas") == "1":
        yield warn(
            "min.insync.replicas is 1: topics without their own acknowledge records that one broker has",
            run="Set min.insync.replicas=2 on every broker",
        )
    if found.get("unclean.leader.election.enable") == "true":
        yield fail(
            "unclean leader elections are allowed: acknowledged records are lost by them",
            run="Set unclean.leader.election.enable=false on every broker",
        )
    if found.get("auto.create.topics.enable") == "true":
        yield warn(
            "topics are created by accident: a mistyped name becomes a topic nobody reads",
            run="Set auto.create.topics.enable=false on every broker",
        )
