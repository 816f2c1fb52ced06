"""What a PostgreSQL server is set to: version, encoding, dialect, connections, durability."""

from __future__ import annotations

from ops.doctor.check import Verdicts, check, fail, ok, skip, warn
from ops.doctor.postgresql.probe import PostgresProbe

OLDEST, NEWEST = 14, 18
"""Major versions: the oldest its project maintains, and the newest that components were tried with."""


@check(
    "postgresql-version",
    "postgresql",
    why="Versions that PostgreSQL's project no longer maintains get no security fixes; ones too new are untried.",
    run=f"Upgrade to a version from {OLDEST} to {NEWEST}.",
    needs=("postgresql-login",),
)
def version(probe: PostgresProbe) -> Verdicts:
    """The major version: 14 to 18."""
    number = probe.session.info.server_version
    major, name = number // 10_000, f"PostgreSQL {number // 10_000}.{number % 10_000}"
    if major < OLDEST:
        yield fail(f"{name} is too old: at least {OLDEST}", run="Upgrade the server, with pg_upgrade or a replica")
    elif major > NEWEST:
        yield warn(f"{name} is newer than what Flotilla was tried with", run=f"Use {NEWEST} until it was")
    else:
        yield ok(name)


@check(
    "postgresql-encoding",
    "postgresql",
    why="Names and parameters may hold any character; other encodings refuse most, SQL_ASCII checks nothing, "
    "and a database keeps the encoding it was made with.",
    run="Create the databases with ENCODING 'UTF8' TEMPLATE template0.",
    needs=("postgresql-login",),
)
def encoding(probe: PostgresProbe) -> Verdicts:
    """The encoding of new databases and of consumers' databases."""
    found = dict(probe.query("SELECT datname, pg_encoding_to_char(encoding) FROM pg_database"))
    names = {"template1": probe.subject}
    names |= {consumer.database: f"data.consumers.{consumer.name}" for consumer in probe.target.consumers}
    for database, subject in names.items():
        if database not in found:
            continue
        if found[database] == "UTF8":
            yield ok(f"{database} has the encoding UTF8", subject=subject)
        elif database == "template1":
            yield fail(
                f"new databases get the encoding {found[database]}",
                run="Run initdb with --encoding=UTF8, or create databases with ENCODING 'UTF8' TEMPLATE template0",
            )
        else:
            yield fail(
                f"the database {database} has the encoding {found[database]}",
                run=f"Dump it, create it anew with ENCODING 'UTF8' TEMPLATE template0, and restore {database}",
                subject=subject,
            )


@check(
    "postgresql-dialect",
    "postgresql",
    why="Components neither escape backslashes nor repeat transactions that were not serializable.",
    run="Leave standard_conforming_strings on and default_transaction_isolation at read committed.",
    needs=("postgresql-login",),
)
def dialect(probe: PostgresProbe) -> Verdicts:
    """Settings that change how statements are read and transactions end."""
    settings = probe.settings
    well = True
    if settings["standard_conforming_strings"] != "on":
        well = False
        yield fail(
            "standard_conforming_strings is off: backslashes in texts are taken as escapes",
            run=probe.client("ALTER SYSTEM SET standard_conforming_strings = on"),
        )
    if (isolation := settings["default_transaction_isolation"]) != "read committed":
        well = False
        yield warn(
            f"transactions are {isolation} by default, and may end with errors that components do not retry",
            run=probe.client("ALTER SYSTEM SET default_transaction_isolation = 'read committed'"),
        )
    if well:
        yield ok("reads statements and isolates transactions as PostgreSQL does by default")


@check(
    "postgresql-connections",
    "postgresql",
    why="When all pools are full, which is when it matters, further connections are refused.",
    run="Raise max_connections, or lower the consumers' `pool.maxOpen`.",
    needs=("postgresql-login",),
)
def connections(probe: PostgresProbe) -> Verdicts:
    """Whether max_connections, less what is reserved, holds all that the consumers' pools may open."""
    wanted = probe.target.connections
    reserved = ("superuser_reserved_connections", "reserved_connections")
    most = int(probe.settings["max_connections"]) - sum(int(probe.settings.get(name, 0)) for name in reserved)
    if not wanted:
        yield skip("the settings declare no pools")
    elif most < wanted:
        yield fail(
            f"{most} connections are to be had (max_connections less the reserved), and consumers may open {wanted}",
            run=f"Set max_connections to {wanted + 20} or more, or lower `pool.maxOpen`",
        )
    else:
        yield ok(f"{most} connections hold the {wanted} of all consumers")


@check(
    "postgresql-durability",
    "postgresql",
    why="Without fsync a crash of the machine corrupts the database, not just its last transactions.",
    run="Set fsync=on, full_page_writes=on and synchronous_commit=on.",
    needs=("postgresql-login",),
)
def durability(probe: PostgresProbe) -> Verdicts:
    """Whether a commit is on disk, and a crash leaves the database whole."""
    off = [name for name in ("fsync", "full_page_writes") if probe.settings[name] == "off"]
    if off:
        yield fail(
            f"a crash corrupts the database ({', '.join(f'{name}=off' for name in off)})",
            run=probe.client(f"ALTER SYSTEM SET {off[0]} = on"),
        )
    elif probe.settings["synchronous_commit"] == "off":
        yield warn(
            "commits of the last moments are lost with the machine (synchronous_commit=off)",
            run=probe.client("ALTER SYSTEM SET synchronous_commit = on"),
        )
    else:
        yield ok("commits are on disk")
