"""Whether RabbitMQ's queues are as declared."""

from __future__ import annotations

from typing import Any

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip
from ops.doctor.network.reach import side_by_side
from ops.doctor.rabbitmq.probe import ApiRefusedError, RabbitMqProbe

_NOT_FOUND = 404


@check(
    "rabbitmq-queues",
    "rabbitmq",
    why="What is published to a queue that is missing is dropped; a queue that is no quorum queue loses its messages "
    "with one node, and keeps the kind it was made with.",
    run='Let the setup Job make them: rabbitmqadmin declare queue durable=true arguments={"x-queue-type":"quorum"}.',
    needs=("rabbitmq-api",),
)
def queues(probe: RabbitMqProbe) -> Verdicts:
    """Each declared queue: there, a quorum queue, with a majority of its members online."""
    return side_by_side(probe.target.queues, lambda queue: _look(probe, *queue))


def _look(probe: RabbitMqProbe, vhost: str, name: str) -> Verdict:
    subject = f"{probe.target.name} queue {vhost}/{name}"
    try:
        state: dict[str, Any] = probe.get("queues", vhost, name)
    except ApiRefusedError as error:
        if error.status != _NOT_FOUND:
            return skip(f"{probe.caller.user} may not look", subject=subject)
        if probe.target.admin:
            return skip("is not there yet: the setup Job makes it", subject=subject)
        return fail(
            "is not there, and the settings name nobody to make it",
            run=f"Declare it in virtual host {vhost} with x-queue-type=quorum",
            subject=subject,
        )
    if state.get("type") != "quorum":
        return fail(
            f"is a {state.get('type', 'classic')} queue, which lives on one node",
            run=f"Empty and delete it, and let the Job make it anew: rabbitmqctl delete_queue -p {vhost} {name}",
            subject=subject,
        )
    members, online = state.get("members") or [], state.get("online") or []
    if members and len(online) * 2 <= len(members):
        return fail(
            f"{len(online)} of {len(members)} members are online: it takes no messages",
            run="Start the missing nodes",
            subject=subject,
        )
    return ok(f"quorum queue of {len(members)} members", subject=subject)
