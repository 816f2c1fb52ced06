"""What a RabbitMQ cluster is made of, and whether anything in it is in alarm."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ops.doctor.check import Verdicts, check, fail, ok, skip, warn
from ops.doctor.network import clock as clocks
from ops.doctor.rabbitmq.probe import ApiRefusedError, RabbitMqProbe

if TYPE_CHECKING:
    from collections.abc import Sequence

OLDEST, OLDEST_MAINTAINED = (3, 10), (4, 0)
_REFUSED = (401, 403)
_RESOURCES = {"memory": "memory", "disk": "free disk space"}


@check("rabbitmq-clock", "rabbitmq", why=clocks.WHY, run=clocks.RUN, needs=("rabbitmq-api",))
def clock(probe: RabbitMqProbe) -> Verdicts:
    """How far the clock of the node that answers the management API is from this machine's."""
    asked = clocks.now()
    date = probe.ask("whoami").headers.get("date")
    yield clocks.http_skew(date, asked, clocks.now()) or skip("the management API tells no time")


@check(
    "rabbitmq-version",
    "rabbitmq",
    why="Quorum queues, which keep events on several nodes, became fit for it with 3.10; older releases get no fixes.",
    run="Upgrade to 4.x, one release after the other, with all feature flags enabled.",
    needs=("rabbitmq-api",),
)
def version(probe: RabbitMqProbe) -> Verdicts:
    """The version: at least 3.10, better 4."""
    text = str(probe.get("overview").get("rabbitmq_version") or "")
    found = re.match(r"(\d+)\.(\d+)", text)
    numbers = (int(found[1]), int(found[2])) if found else (0, 0)
    if numbers < OLDEST:
        yield fail(f"RabbitMQ {text or 'of an unknown version'} is too old: at least 3.10", run="Upgrade the cluster")
    elif numbers < OLDEST_MAINTAINED:
        yield warn(f"RabbitMQ {text} is no longer maintained", run="Upgrade to 4.x")
    else:
        yield ok(f"RabbitMQ {text}")


@check(
    "rabbitmq-cluster",
    "rabbitmq",
    why="A quorum queue has a majority of three nodes left after the loss of one; of fewer it has none.",
    run="Join the missing nodes: rabbitmqctl join_cluster; look at rabbitmqctl cluster_status.",
    needs=("rabbitmq-api",),
)
def cluster(probe: RabbitMqProbe) -> Verdicts:
    """How many nodes there are and run, and whether the network has parted them."""
    nodes = _nodes(probe)
    if nodes is None:
        return [skip(f"{probe.caller.user} may not look (tag `monitoring`)")]
    wanted = probe.target.nodes
    down = [str(node["name"]) for node in nodes if not node.get("running")]
    parted = sorted({str(other) for node in nodes for other in node.get("partitions") or ()})
    if parted:
        return [
            fail(
                f"the network has parted the cluster: {', '.join(parted)}",
                run="Restart the nodes of one side; set cluster_partition_handling = pause_minority",
            )
        ]
    if down:
        return [fail(f"{len(down)} of {len(nodes)} nodes do not run: {', '.join(down)}", run="Start them")]
    if len(nodes) < wanted:
        return [
            fail(f"has {len(nodes)} nodes, {wanted} are needed to lose one", run="Join more: rabbitmqctl join_cluster")
        ]
    return [ok(f"{len(nodes)} nodes run")]


@check(
    "rabbitmq-alarms",
    "rabbitmq",
    why="In alarm the cluster blocks every publisher, without an error: events wait until their senders give up.",
    run="Free memory or disk; look at rabbitmq-diagnostics alarms.",
    needs=("rabbitmq-api",),
)
def alarms(probe: RabbitMqProbe) -> Verdicts:
    """Alarms for memory and disk space."""
    answer = probe.ask("health", "checks", "alarms")
    if answer.status_code in _REFUSED:
        return [skip(f"{probe.caller.user} may not look (tag `monitoring`)")]
    return [
        fail(
            f"{alarm.get('node', 'a node')} is in alarm for {_RESOURCES.get(alarm.get('resource'), 'a resource')}: "
            "publishers are blocked",
            run="Free or add some, or correct vm_memory_high_watermark and disk_free_limit",
        )
        for alarm in answer.json().get("alarms") or ()
    ] or [ok("nothing is in alarm")]


def _nodes(probe: RabbitMqProbe) -> Sequence[dict[str, Any]] | None:
    """Return the cluster's nodes, None where the user may not see them."""
    try:
        return probe.get("nodes")
    except ApiRefusedError as error:
        if error.status in _REFUSED:
            return None
        raise
