"""A connection to one PostgreSQL server, and what its errors mean."""

from __future__ import annotations

import ssl
from functools import cached_property
from typing import TYPE_CHECKING, Any, LiteralString, TypeAlias, cast

import psycopg
from psycopg import sql

from ops.doctor.check import Verdict, fail
from ops.doctor.network import endpoint
from ops.doctor.network.endpoint import Endpoint
from ops.doctor.server_probe import ServerProbe

if TYPE_CHECKING:
    from ops.doctor.targets import Address, Login, PostgresTarget

MAINTENANCE = "postgres"
"""Database that every server has, to connect to where no other is meant."""

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
Statement: TypeAlias = LiteralString | sql.Composed
NO_PRIVILEGE = psycopg.errors.InsufficientPrivilege
READ_ONLY = psycopg.errors.ReadOnlySqlTransaction


class PostgresProbe(ServerProbe["PostgresTarget"]):
    """One server of a target.

    Args:
        target: the target.
        address: which of its hosts this is about.
        timeout: seconds that one answer may take.
    """

    def __init__(self, target: PostgresTarget, address: Address, timeout: float) -> None:
        super().__init__(target, [Endpoint(name=target.name, address=address, upgrade=endpoint.postgres)], timeout)
        self.address = address
        self._connection: Connection | None = None

    @property
    def is_writer(self) -> bool:
        """Whether this is the server that takes writes."""
        return self.address == self.target.hosts[0]

    @property
    def login(self) -> tuple[Login, str] | None:
        """Return the strongest user there is, and a database it may connect to."""
        if self.target.admin:
            return self.target.admin, MAINTENANCE
        users = ((consumer.login, consumer.database) for consumer in self.target.consumers)
        return next(((user, database) for user, database in users if user), None)

    def connect(self, user: Login, database: str, require_auth: str | None = None) -> Connection:
        """Return a new connection for a user; the caller closes it.

        Args:
            user: who connects.
            database: the database to connect to.
            require_auth: the one way of authentication to accept; None accepts any.
        """
        patience = max(1, int(self.patience))
        connection: Connection = psycopg.connect(
            host=self.address.host,
            port=self.address.port,
            user=user.user,
            password=user.password.value,
            dbname=database,
            connect_timeout=patience,
            tcp_user_timeout=patience * 1000,
            application_name="flotilla-doctor",
            gssencmode="disable",
            autocommit=True,
            **cast("dict[str, Any]", self._protection() | ({"require_auth": require_auth} if require_auth else {})),
        )
        try:
            connection.execute("SELECT set_config('statement_timeout', %s, false)", (f"{patience}s",))
        except psycopg.Error:
            connection.close()
            raise
        return connection

    def open(self, user: Login, database: str) -> None:
        """Connect as this user for the checks that follow."""
        self._connection = self.connect(user, database)

    @property
    def session(self) -> Connection:
        """Return the connection that `open` made."""
        if self._connection is None:
            raise psycopg.InterfaceError("not connected")
        return self._connection

    def query(self, statement: LiteralString, *arguments: object) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        return self.session.execute(statement, arguments or None).fetchall()

    @cached_property
    def settings(self) -> dict[str, str]:
        """Return the server's settings as this session sees them."""
        return {str(name): str(value) for name, value in self.query("SELECT name, setting FROM pg_settings")}

    @property
    def in_recovery(self) -> bool:
        """Whether the server replays another one's changes."""
        return bool(self.query("SELECT pg_is_in_recovery()")[0][0])

    def client(self, statement: str) -> str:
        """Return the command by which a person runs a statement on this server."""
        known = self.login
        name = known[0].user if known else "postgres"
        return f'psql -h {self.address.host} -p {self.address.port} -U {name} {MAINTENANCE} -c "{statement}"'

    def explain(self, error: Exception) -> Verdict | None:
        """Return what a client's error means."""
        if not isinstance(error, psycopg.Error):
            return None
        text = message_of(error)
        if isinstance(error, NO_PRIVILEGE):
            return fail(f"the user lacks a privilege ({text})", run="Grant it to the user that the settings name")
        if isinstance(error, READ_ONLY):
            return fail("the server is read-only", run="Address the server that takes writes")
        if isinstance(error, psycopg.errors.QueryCanceled):
            return fail("a statement did not end in time", run=self.client("SELECT * FROM pg_stat_activity"))
        return fail(f"the server ended the conversation ({text})", run="Look at the server's log")

    def close(self) -> None:
        """Close the connection, and remove the certificates' files."""
        self.files.close()
        if self._connection is not None:
            self._connection.close()

    def _protection(self) -> dict[str, object]:
        files = self.files
        given: dict[str, object] = {"sslmode": files.tls.mode}
        if files.tls.mode in ("verify-ca", "verify-full"):
            given["sslrootcert"] = str(files.ca or ssl.get_default_verify_paths().cafile or "system")
        if files.certificate:
            given |= {"sslcert": str(files.certificate), "sslkey": str(files.key)}
        return given


def message_of(error: Exception) -> str:
    """Return an error's first line, which names the fault, without what libpq puts before it."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    text = (
        lines[-1] if len(lines) == 1 else next((line for line in lines if "FATAL" in line), lines[0] if lines else "")
    )
    return " ".join(text.rpartition("FATAL:  ")[2].removeprefix("ERROR:").split())


def refusal(user: Login, database: str, error: Exception) -> Verdict:
    """Return why a login failed. libpq gives no codes here, only the server's words."""
    text = str(error)
    if "password authentication failed" in text:
        return fail(
            f"refuses the user {user.user} of {user.source}: wrong password, or no such user",
            run=f"Correct {user.source}, or set it: ALTER ROLE \"{user.user}\" PASSWORD '...'",
        )
    if "no pg_hba.conf entry" in text or "pg_hba.conf rejects" in text:
        encryption = "without TLS" if "no encryption" in text else "with TLS"
        return fail(
            f"pg_hba.conf lets {user.user} not into {database} from this address {encryption}",
            run=f'Add to pg_hba.conf: hostssl "{database}" "{user.user}" <network> scram-sha-256; then reload',
        )
    if "role" in text and "does not exist" in text:
        return fail(f"there is no user {user.user}", run=f"Correct {user.source}, or create the role")
    if "database" in text and "does not exist" in text:
        return fail(f"there is no database {database}", run="Run the bootstrap Job, or create the database")
    if "is not permitted to log in" in text:
        return fail(f"the role {user.user} may not log in", run=f'Run ALTER ROLE "{user.user}" LOGIN')
    if "permission denied for database" in text:
        return fail(
            f"{user.user} may not connect to {database}",
            run=f'Run GRANT CONNECT ON DATABASE "{database}" TO "{user.user}"',
        )
    if "too many clients" in text or "connection slots" in text or "too many connections" in text:
        return fail("has no connection left", run="Raise max_connections, or end idle clients")
    if "starting up" in text or "shutting down" in text or "recovery" in text:
        return fail(f"takes no connections yet ({message_of(error)})", run="Wait, or look at the server's log")
    return fail(f"does not let {user.user} in ({message_of(error)})", run="Look at the server's log")
