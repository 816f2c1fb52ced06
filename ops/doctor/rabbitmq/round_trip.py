"""Whether a message that a quorum queue confirms can be read again: it is tried, in a virtual host of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pika
from pika import exceptions

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.rabbitmq.probe import RabbitMqProbe, text_of
from ops.doctor.scratch import scratch_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_MESSAGE = b"flotilla doctor"


@check(
    "rabbitmq-quorum-queue",
    "rabbitmq",
    why="An event counts as delivered when a majority of the queue's members has it; that is a quorum queue's promise. "
    "What the setup Job may not do is found out here rather than half-way.",
    run="Give the administrator its tag, and the cluster three nodes.",
    needs=("rabbitmq-api", "rabbitmq-alarms"),
    waits=5,
)
def quorum_queue(probe: RabbitMqProbe) -> Verdicts:
    """A message through a quorum queue in a scratch virtual host: made, published with confirmation, read, removed."""
    admin = probe.target.admin
    if admin is None:
        yield skip("the settings name no administrator, who could make a virtual host to try it in")
        return
    vhost = scratch_name()
    made = probe.ask("vhosts", vhost, method="PUT", body={})
    if made.is_error:
        yield fail(
            f"{admin.user} may not make virtual hosts (HTTP {made.status_code})",
            run=f"Run rabbitmqctl set_user_tags {admin.user} administrator",
        )
        return
    try:
        everything = {"configure": ".*", "write": ".*", "read": ".*"}
        probe.ask("permissions", vhost, admin.user, method="PUT", body=everything)
        yield from _try(probe, vhost)
    finally:
        removed = not probe.ask("vhosts", vhost, method="DELETE").is_error
    if not removed:
        yield warn(
            f"the virtual host {vhost}, made to try, could not be removed again",
            why="It holds at most one message, and does no harm but to the eye.",
            run=f"Run rabbitmqctl delete_vhost {vhost}",
        )


def _try(probe: RabbitMqProbe, vhost: str) -> Iterator[Verdict]:
    queue = scratch_name()
    with probe.connected(probe.target.hosts[0], probe.caller, vhost) as connection:
        channel = connection.channel()
        try:
            channel.queue_declare(queue, durable=True, arguments={"x-queue-type": "quorum"})
            channel.confirm_delivery()
            channel.basic_publish("", queue, _MESSAGE, pika.BasicProperties(delivery_mode=2), mandatory=True)
            _, __, body = channel.basic_get(queue, auto_ack=True)
        except (exceptions.NackError, exceptions.UnroutableError):
            yield fail("a message was not confirmed", run="Look whether a majority of the nodes runs")
            return
        except exceptions.ChannelClosedByBroker as error:
            yield fail(
                f"refuses a quorum queue ({text_of(error)})", run="Enable all feature flags, and look at the log"
            )
            return
    if body != _MESSAGE:
        yield fail("a message that was confirmed cannot be read", run="Look at the logs of the queue's leader")
        return
    state: dict[str, Any] = probe.get("queues", vhost, queue)
    members = state.get("members")
    if members is not None and len(members) < probe.target.nodes:
        yield fail(
            f"a new quorum queue gets {len(members)} members, {probe.target.nodes} are needed to lose a node",
            run="Join more nodes, then: rabbitmq-queues grow <node> all",
        )
    else:
        yield ok("a message was published, confirmed by a majority, and read")
