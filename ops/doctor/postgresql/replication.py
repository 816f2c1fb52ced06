"""Which part a PostgreSQL server plays among its standbys, and whether they follow."""

from __future__ import annotations

from ops.doctor.check import Verdicts, check, fail, ok, skip, warn
from ops.doctor.postgresql.probe import PostgresProbe

BEHIND_SECONDS, FAR_BEHIND_SECONDS = 30, 300


@check(
    "postgresql-role",
    "postgresql",
    why="Components write to the first host of the settings; a standby refuses that.",
    run="Put the endpoint that follows the primary first in `hosts`, and look at the last failover.",
    needs=("postgresql-login",),
)
def role(probe: PostgresProbe) -> Verdicts:
    """Whether the first host takes writes (not in recovery, not read-only), and the others do not."""
    if probe.is_writer:
        if probe.in_recovery:
            yield fail(
                "is a standby (in recovery), and the settings send writes to it",
                run="Put the primary first in `hosts`, or promote this server: SELECT pg_promote()",
            )
        elif probe.settings["default_transaction_read_only"] == "on":
            yield fail(
                "transactions are read-only by default, and the settings send writes to it",
                run=probe.client("ALTER SYSTEM SET default_transaction_read_only = off"),
            )
        else:
            yield ok("takes writes")
    elif probe.in_recovery:
        yield ok("is a standby")
    else:
        yield fail(
            "is listed as a standby, and is a primary of its own",
            why="Two primaries drift apart: what is written to one is missing from the other.",
            run="Rebuild it as a standby (pg_rewind, pg_basebackup), or take it out of `hosts`",
        )


@check(
    "postgresql-replication",
    "postgresql",
    why="A standby that stopped or lags is what the next failover promotes; a synchronous one that is missing makes "
    "every commit wait for ever.",
    run="Look at pg_stat_replication on the primary and at the standby's log.",
    needs=("postgresql-login",),
)
def replication(probe: PostgresProbe) -> Verdicts:
    """Standbys' state and lag; on the primary whether those are there that commits wait for."""
    return _standby(probe) if probe.in_recovery else _primary(probe)


def _primary(probe: PostgresProbe) -> Verdicts:
    wanted = probe.settings.get("synchronous_standby_names", "")
    waits = probe.settings["synchronous_commit"] not in ("off", "local")
    states = [
        (name, state)
        for name, state in probe.query("SELECT application_name, sync_state FROM pg_stat_replication")
        if state is not None
    ]
    following = [name for name, state in states if state in ("sync", "quorum")]
    if wanted and waits and not following:
        yield fail(
            f"commits wait for synchronous standbys ({wanted}), and none is connected",
            run="Start the standbys, or run "
            + probe.client("ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()"),
        )
    elif len(probe.target.hosts) > 1 and not states:
        yield warn(
            "the settings list standbys, and none that this user can see follows",
            run="Look at the standbys, or GRANT pg_monitor to the user so that it sees them",
        )
    else:
        yield ok(f"{len(states)} standbys follow" if states else "no standby is expected or seen")


def _standby(probe: PostgresProbe) -> Verdicts:
    [[behind, caught_up]] = probe.query(
        "SELECT extract(epoch FROM now() - pg_last_xact_replay_timestamp()), "
        "pg_last_wal_receive_lsn() IS NOT DISTINCT FROM pg_last_wal_replay_lsn()"
    )
    receivers = probe.query("SELECT status FROM pg_stat_wal_receiver")
    if not receivers:
        yield fail(
            "receives no changes: it is connected to no primary",
            run="Look at primary_conninfo and the standby's log; rebuild it if the primary has dropped the segments",
        )
    elif behind is None or caught_up:
        yield ok("has replayed all it received")
    elif behind > BEHIND_SECONDS:
        judge = fail if behind > FAR_BEHIND_SECONDS else warn
        yield judge(f"is {behind:.0f} s behind", run="Look for long queries, slow disks or paused replay")
    else:
        yield ok(f"{behind:.0f} s behind") if behind >= 0 else skip("the standby's clock is ahead of its primary's")
