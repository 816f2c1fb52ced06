"""Whether a record that Kafka acknowledges can be read again: it is tried."""

from __future__ import annotations

import contextlib
import datetime
from typing import TYPE_CHECKING

from kafka import KafkaConsumer, KafkaProducer, errors
from kafka.structs import TopicPartition

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.kafka.probe import KafkaProbe, name_of
from ops.doctor.network import clock
from ops.doctor.scratch import scratch_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_RECORD = b"flotilla doctor"


@check(
    "kafka-round-trip",
    "kafka",
    why="That a record was acknowledged by enough brokers and can be read is what everything else here is for.",
    run="Look at the brokers' logs while it is tried again.",
    needs=("kafka-login", "kafka-privileges", "kafka-brokers"),
    waits=5,
)
def round_trip(probe: KafkaProbe) -> Verdicts:
    """A record through a scratch topic: created, written with acks=all, read, deleted; and the brokers' clock."""
    if not probe.target.administers:
        yield skip("the settings name nobody who may create a topic to try it with")
        return
    topic = scratch_name()
    copies = probe.target.replication
    options = {
        "num_partitions": 1,
        "replication_factor": copies,
        "configs": {"min.insync.replicas": str(max(1, copies - 1)), "message.timestamp.type": "LogAppendTime"},
    }
    answer = probe.admin.create_topics({topic: options}, timeout_ms=probe.patience_ms, raise_errors=False)
    result = answer["topics"][0]
    if result["error_code"]:
        yield fail(
            f"a topic with {copies} copies cannot be created ({result['error_message']})",
            run="Add brokers, or let the user create topics",
        )
        return
    try:
        probe.admin.wait_for_topics([topic], timeout_ms=probe.patience_ms)
        yield from _write_and_read(probe, topic)
    finally:
        removed = _remove(probe, topic)
    if not removed:
        yield warn(
            f"the topic {topic}, made to try, could not be deleted again",
            why="It holds one record, and does no harm but to the eye.",
            run=f"Run kafka-topics.sh --delete --topic {topic}",
        )


def _write_and_read(probe: KafkaProbe, topic: str) -> Iterator[Verdict]:
    partition = TopicPartition(topic, 0)
    asked = clock.now()
    try:
        with contextlib.closing(_producer(probe)) as producer:
            producer.send(topic, _RECORD, partition=0).get(timeout=probe.patience)
    except errors.NotEnoughReplicasError:
        yield fail("too few brokers are in sync to acknowledge a record", run="Start the missing brokers")
        return
    except errors.KafkaError as error:
        yield fail(f"a record was not acknowledged ({name_of(error)})", run="Look at the brokers' logs")
        return
    answered = clock.now()
    with contextlib.closing(_consumer(probe)) as consumer:
        consumer.assign([partition])
        consumer.seek_to_beginning(partition)
        records = consumer.poll(timeout_ms=probe.patience_ms).get(partition, [])
    if [record.value for record in records] != [_RECORD]:
        yield fail("a record that was acknowledged cannot be read", run="Look at the logs of the partition's leader")
        return
    yield ok("a record was written, acknowledged by the brokers in sync, and read")
    appended = datetime.datetime.fromtimestamp(records[0].timestamp / 1000, datetime.UTC)
    skewed = clock.skew(appended, asked, answered)
    if skewed.status != "ok":
        yield skewed


def _producer(probe: KafkaProbe) -> KafkaProducer:
    return KafkaProducer(
        **probe.client_settings,
        acks="all",
        max_block_ms=probe.patience_ms,
        delivery_timeout_ms=probe.patience_ms,
    )


def _consumer(probe: KafkaProbe) -> KafkaConsumer:
    return KafkaConsumer(**probe.client_settings, group_id=None, auto_offset_reset="earliest")


def _remove(probe: KafkaProbe, topic: str) -> bool:
    try:
        probe.admin.delete_topics([topic], timeout_ms=probe.patience_ms)
    except errors.KafkaError:
        return False
    return True
