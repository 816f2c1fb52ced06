"""Which part a MySQL server plays among its replicas, and whether they follow."""

from __future__ import annotations

import pymysql

from ops.doctor.check import Verdicts, check, fail, ok, skip, warn
from ops.doctor.mysql.probe import NO_PRIVILEGE, MySqlProbe, code_of, records

BEHIND_SECONDS, FAR_BEHIND_SECONDS = 30, 300
QUORUM = 3


@check(
    "mysql-role",
    "mysql",
    why="Components write to the first host of the settings; a replica refuses that, or takes it and drifts apart.",
    run="Put the endpoint that follows the primary first in `hosts`, and look at the last failover.",
    needs=("mysql-login",),
)
def role(probe: MySqlProbe) -> Verdicts:
    """Whether the first host takes writes, and the others do not."""
    blocking = [name for name in ("read_only", "super_read_only", "innodb_read_only") if probe.is_on(name)]
    if probe.is_writer and blocking:
        yield fail(
            f"is read-only ({', '.join(f'{name}=ON' for name in blocking)}), and the settings send writes to it",
            run="Address the primary first in `hosts`; if this is the primary, set read_only=OFF",
        )
    elif probe.is_writer:
        yield ok("takes writes")
    elif blocking:
        yield ok("is a read-only replica")
    else:
        yield warn(
            "is listed as a replica, and takes writes",
            run=f"Run {probe.client('SET GLOBAL read_only = ON')}, unless every server here takes writes",
        )


@check(
    "mysql-replication",
    "mysql",
    why="A replica that stopped or lags is what the next failover promotes: everything after its last change is lost.",
    run="Look at SHOW REPLICA STATUS, repair what stopped it, or build the replica anew.",
    needs=("mysql-login",),
)
def replication(probe: MySqlProbe) -> Verdicts:
    """State and lag of replication, and the size of a Galera cluster."""
    try:
        channels = records(probe.session, "SHOW REPLICA STATUS")
    except pymysql.err.MySQLError as error:
        if code_of(error) not in NO_PRIVILEGE:
            raise
        yield skip("the user may not look at replication (REPLICA MONITOR or REPLICATION CLIENT)")
        return
    if probe.is_on("wsrep_on"):
        yield from _galera(probe)
    elif channels:
        for channel in channels:
            yield from _channel(probe, channel)
    elif probe.is_writer:
        yield ok("replicates from nobody, as the server that takes writes should")
    else:
        yield fail(
            "is listed as a replica, and replicates from nobody",
            run="Make it a replica of the first host, or take it out of `hosts`",
        )


def _channel(probe: MySqlProbe, channel: dict[str, object]) -> Verdicts:
    """Judge one stream of changes. MySQL and MariaDB name the columns differently."""
    source = channel.get("Source_Host") or channel.get("Master_Host")
    stopped = [
        part
        for part, state in (
            ("receiving", channel.get("Replica_IO_Running") or channel.get("Slave_IO_Running")),
            ("applying", channel.get("Replica_SQL_Running") or channel.get("Slave_SQL_Running")),
        )
        if state != "Yes"
    ]
    behind = channel.get("Seconds_Behind_Source", channel.get("Seconds_Behind_Master"))
    if probe.is_writer:
        yield fail(
            f"is itself a replica of {source}, and the settings send writes to it",
            run="Put the primary first in `hosts`",
        )
    elif stopped:
        text = " ".join(str(channel.get("Last_IO_Error") or channel.get("Last_SQL_Error") or "").split())
        yield fail(
            f"{' and '.join(stopped)} changes of {source} has stopped{f' ({text})' if text else ''}",
            run=f"Repair the cause, then: {probe.client('START REPLICA')}",
        )
    elif isinstance(behind, int) and behind > BEHIND_SECONDS:
        judge = fail if behind > FAR_BEHIND_SECONDS else warn
        yield judge(f"is {behind} s behind {source}", run="Look for long transactions, slow disks or too few appliers")
    else:
        yield ok(f"follows {source}, {behind} s behind")


def _galera(probe: MySqlProbe) -> Verdicts:
    status = {str(name): str(value) for name, value in probe.query("SHOW GLOBAL STATUS LIKE 'wsrep_%%'")}
    size = int(status.get("wsrep_cluster_size", "0"))
    if status.get("wsrep_ready") != "ON" or status.get("wsrep_cluster_status") != "Primary":
        yield fail(
            f"is not part of the primary component ({status.get('wsrep_local_state_comment', 'unknown')})",
            run="Join it again, or bootstrap the most advanced member",
        )
    elif size < QUORUM:
        yield warn(
            f"the Galera cluster has {size} of {QUORUM} members: the next loss stops it", run="Join the missing members"
        )
    else:
        yield ok(f"one of {size} members of a Galera cluster")
