"""Whether Kafka's topics are as declared, or could be created so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka.admin import ConfigResource, ConfigResourceType

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, warn
from ops.doctor.kafka.probe import KafkaProbe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.doctor.targets import Topic

_UNKNOWN_TOPIC, _NOT_AUTHORIZED = 3, 29


@check(
    "kafka-topics",
    "kafka",
    why="Replication factor and min.insync.replicas decide whether an acknowledged event survives the loss of a "
    "broker; a topic keeps the replication it was created with.",
    run="Compare with the settings: kafka-topics.sh --describe --topic <name>.",
    needs=("kafka-login",),
    waits=3,
)
def topics(probe: KafkaProbe) -> Verdicts:
    """Each declared topic: partitions, replication, min.insync.replicas, retention, replicas in sync; or a dry run."""
    declared = probe.target.topics
    if not declared:
        return []
    found = {str(topic["name"]): topic for topic in probe.admin.describe_topics([topic.name for topic in declared])}
    present = [topic for topic in declared if not found[topic.name]["error_code"]]
    configs = _configs(probe, present)
    return [
        verdict for topic in declared for verdict in _look(probe, topic, found[topic.name], configs.get(topic.name, {}))
    ]


def _configs(probe: KafkaProbe, present: list[Topic]) -> dict[str, dict[str, str]]:
    if not present:
        return {}
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic.name) for topic in present]
    answer = probe.admin.describe_configs(resources, config_filter="all").get("topic", {})
    return {
        topic: {name: str(config["value"]) for name, config in configs.items()} for topic, configs in answer.items()
    }


def _look(probe: KafkaProbe, topic: Topic, found: dict[str, Any], config: dict[str, str]) -> list[Verdict]:
    subject = f"{probe.target.name} topic {topic.name}"
    if found["error_code"] == _UNKNOWN_TOPIC and not probe.target.administers:
        return [fail("is not there, and the settings name nobody to create it", run=_create(topic), subject=subject)]
    if found["error_code"] == _UNKNOWN_TOPIC:
        return [_dry_run(probe, topic, subject)]
    if found["error_code"] == _NOT_AUTHORIZED:
        return [
            fail(
                f"{probe.user} may not see it",
                run=f"Run kafka-acls.sh --add --allow-principal {probe.user} --operation All --topic {topic.name}",
                subject=subject,
            )
        ]
    partitions = found["partitions"]
    verdicts = [*_shape(topic, partitions, subject), *_configured(topic, config, subject)]
    verdicts += _health(partitions, int(config.get("min.insync.replicas", 1)), subject)
    return verdicts or [ok(f"{len(partitions)} partitions, {topic.replication} copies, as declared", subject=subject)]


def _create(topic: Topic) -> str:
    shape = f"--partitions {topic.partitions} --replication-factor {topic.replication}"
    return f"Run kafka-topics.sh --create --topic {topic.name} {shape}"


def _shape(topic: Topic, partitions: list[dict[str, Any]], subject: str) -> Iterator[Verdict]:
    if len(partitions) < topic.partitions:
        yield fail(
            f"has {len(partitions)} partitions, {topic.partitions} are declared",
            run=f"Run kafka-topics.sh --alter --topic {topic.name} --partitions {topic.partitions}",
            subject=subject,
        )
    copies = min(len(partition["replica_nodes"]) for partition in partitions)
    if copies < topic.replication:
        yield fail(
            f"has replication factor {copies}, {topic.replication} is declared",
            run="Add replicas with kafka-reassign-partitions.sh, or delete the topic and let the Job create it anew",
            subject=subject,
        )


def _configured(topic: Topic, config: dict[str, str], subject: str) -> Iterator[Verdict]:
    def alter(name: str, value: int) -> str:
        return (
            f"Run kafka-configs.sh --alter --entity-type topics --entity-name {topic.name} --add-config {name}={value}"
        )

    least = int(config.get("min.insync.replicas", topic.min_insync_replicas))
    if least < topic.min_insync_replicas:
        yield fail(
            f"min.insync.replicas is {least}, {topic.min_insync_replicas} is declared",
            run=alter("min.insync.replicas", topic.min_insync_replicas),
            subject=subject,
        )
    elif least >= topic.replication > 1:
        yield fail(
            f"min.insync.replicas is {least} of {topic.replication} copies: the loss of one broker stops all writes",
            run=alter("min.insync.replicas", topic.replication - 1),
            subject=subject,
        )
    kept = config.get("retention.ms")
    if topic.retention_ms is not None and kept is not None and int(kept) != topic.retention_ms:
        yield warn(
            f"retention.ms is {kept}, {topic.retention_ms} is declared",
            run=alter("retention.ms", topic.retention_ms),
            subject=subject,
            why="Records vanish before they were read, or fill the disks.",
        )
    if config.get("unclean.leader.election.enable") == "true":
        yield fail(
            "allows unclean leader elections, which lose acknowledged records",
            run=alter("unclean.leader.election.enable", 0).replace("=0", "=false"),
            subject=subject,
        )


def _health(partitions: list[dict[str, Any]], least: int, subject: str) -> Iterator[Verdict]:
    describe = "Start the brokers that are missing; then: kafka-topics.sh --describe --under-replicated-partitions"
    leaderless = [partition for partition in partitions if partition["leader_id"] < 0]
    stopped = [each for each in partitions if each not in leaderless and len(each["isr_nodes"]) < least]
    behind = [each for each in partitions if len(each["isr_nodes"]) < len(each["replica_nodes"])]
    if leaderless:
        yield fail(f"{len(leaderless)} partitions have no leader", run=describe, subject=subject)
    elif stopped:
        yield fail(
            f"{len(stopped)} partitions have fewer replicas in sync than min.insync.replicas ({least}): writes fail",
            run=describe,
            subject=subject,
        )
    elif behind:
        yield warn(f"{len(behind)} partitions lack replicas in sync", run=describe, subject=subject)


def _dry_run(probe: KafkaProbe, topic: Topic, subject: str) -> Verdict:
    """Ask the brokers whether they would create a topic."""
    wanted = {"num_partitions": topic.partitions, "replication_factor": topic.replication}
    answer = probe.admin.create_topics(
        {topic.name: wanted}, timeout_ms=probe.patience_ms, validate_only=True, raise_errors=False
    )
    result = answer["topics"][0]
    if not result["error_code"]:
        return ok("is not there yet, and can be created as declared", subject=subject)
    if result["error_code"] == _NOT_AUTHORIZED:
        return fail(
            f"is not there, and {probe.user} may not create it",
            run=f"Run kafka-acls.sh --add --allow-principal {probe.user} --operation Create --topic {topic.name}",
            subject=subject,
        )
    return fail(
        f"cannot be created as declared ({result['error_message']})",
        run="Lower what is declared, or add brokers",
        subject=subject,
    )
