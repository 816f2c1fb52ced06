"""A connection to one MySQL or MariaDB server, and what its errors mean."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import pymysql

from ops.doctor.check import Verdict, fail
from ops.doctor.network import endpoint
from ops.doctor.network.endpoint import Endpoint
from ops.doctor.server_probe import ServerProbe

if TYPE_CHECKING:
    from pymysql.connections import Connection
    from pymysql.cursors import Cursor

    from ops.doctor.targets import Address, Login, MySqlTarget

ACCESS_DENIED = frozenset({1045, 1698})
NO_PRIVILEGE = frozenset({1044, 1142, 1143, 1227, 1410})
READ_ONLY = frozenset({1290, 1836})
_INSECURE_TRANSPORT = frozenset({3159})
_WRONG_PLUGIN = frozenset({1251, 1275, 1524, 2059, 2061})


class MySqlProbe(ServerProbe["MySqlTarget"]):
    """One server of a target.

    Args:
        target: the target.
        address: which of its hosts this is about.
        timeout: seconds that one answer may take.
    """

    def __init__(self, target: MySqlTarget, address: Address, timeout: float) -> None:
        super().__init__(target, [Endpoint(name=target.name, address=address, upgrade=endpoint.mysql)], timeout)
        self.address = address
        self._connection: Connection[Cursor] | None = None

    @property
    def is_writer(self) -> bool:
        """Whether this is the server that takes writes."""
        return self.address == self.target.hosts[0]

    @property
    def login(self) -> Login | None:
        """Return the strongest user there is: the administrator, else a consumer's."""
        users = (self.target.admin, *(consumer.login for consumer in self.target.consumers))
        return next((user for user in users if user), None)

    def connect(self, user: Login, database: str | None = None) -> Connection[Cursor]:
        """Return a new connection for a user; the caller closes it."""
        patience = max(1, int(self.patience))
        return pymysql.connect(
            host=self.address.host,
            port=self.address.port,
            user=user.user,
            password=user.password.value,
            database=database,
            connect_timeout=patience,
            read_timeout=patience,
            write_timeout=patience,
            charset="utf8mb4",
            sql_mode="STRICT_TRANS_TABLES",  # what is read and tried must not depend on what is being judged
            autocommit=True,
            program_name="flotilla-doctor",
            **cast("dict[str, Any]", self._protection()),
        )

    def open(self, user: Login) -> None:
        """Connect as this user for the checks that follow."""
        self._connection = self.connect(user)

    def query(self, statement: str, *arguments: object) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        return rows(self.session, statement, *arguments)

    @property
    def session(self) -> Connection[Cursor]:
        """Return the connection that `open` made."""
        if self._connection is None:
            raise pymysql.err.InterfaceError(0, "not connected")
        return self._connection

    @cached_property
    def variables(self) -> dict[str, str]:
        """Return the server's global variables."""
        return {str(name).lower(): str(value) for name, value in self.query("SHOW GLOBAL VARIABLES")}

    @property
    def is_mariadb(self) -> bool:
        """Whether the server is MariaDB, whose versions and variables differ."""
        return "mariadb" in self.variables["version"].lower()

    @property
    def version(self) -> tuple[int, int, int]:
        """Return the server's version."""
        found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", self.variables["version"])
        return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else (0, 0, 0)

    def is_on(self, variable: str) -> bool:
        """Whether a variable exists and is switched on."""
        return self.variables.get(variable, "OFF").upper() not in ("OFF", "0", "NO", "")

    def client(self, statement: str) -> str:
        """Return the command by which a person runs a statement on this server."""
        user = self.login
        name = user.user if user else "root"
        return f"mysql -h {self.address.host} -P {self.address.port} -u {name} -p -e {_quoted(statement)}"

    def explain(self, error: Exception) -> Verdict | None:
        """Return what a client's error means."""
        if not isinstance(error, pymysql.err.MySQLError):
            return None
        code, text = code_of(error), message_of(error)
        if code in NO_PRIVILEGE:
            return fail(f"the user lacks a privilege ({text})", run="Grant it to the user that the settings name")
        if code in READ_ONLY:
            return fail(f"the server is read-only ({text})", run="Address the server that takes writes")
        return fail(f"the server ended the conversation ({code}: {text})", run="Look at the server's error log")

    def close(self) -> None:
        """Close the connection, and remove the certificates' files."""
        self.files.close()
        if self._connection is not None:
            self._connection.close()

    def _protection(self) -> dict[str, object]:
        return {"ssl": self.files.context()} if self.files.tls.enabled else {"ssl_disabled": True}


def rows(connection: Connection[Cursor], statement: str, *arguments: object) -> list[tuple[Any, ...]]:
    """Return the rows of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments or None)
        return list(cursor.fetchall())


def records(connection: Connection[Cursor], statement: str) -> list[dict[str, Any]]:
    """Return the rows of a statement by their columns' names."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        names = [str(column[0]) for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def code_of(error: Exception) -> int:
    """Return the server's or client's number of an error, 0 where it has none."""
    first = error.args[0] if error.args else 0
    return first if isinstance(first, int) else 0


def message_of(error: Exception) -> str:
    """Return an error's text in one line."""
    return " ".join(str(error.args[-1] if error.args else error).split())


def refusal(user: Login, error: Exception) -> Verdict:
    """Return why a login failed."""
    code, text = code_of(error), message_of(error)
    if code in ACCESS_DENIED:
        return fail(
            f"refuses the user {user.user} of {user.source}: wrong password, or no such user from here",
            run=f"Correct {user.source}, or look at the user and its host: SHOW CREATE USER '{user.user}'@'%'",
        )
    if code in _INSECURE_TRANSPORT:
        return fail(
            "accepts only TLS, and the settings say `disable`", run="Say `tls.mode: verify-full`, with its `ca`"
        )
    if code in _WRONG_PLUGIN or isinstance(error, RuntimeError):
        return fail(
            f"the user {user.user} has an authentication plugin that clients here do not know ({text})",
            run=f"Run ALTER USER '{user.user}'@'%' IDENTIFIED WITH mysql_native_password BY '...'",
        )
    if code == 1040:
        return fail("has no connection left (max_connections)", run="Raise max_connections, or end idle clients")
    if code in (1129, 1130):
        return fail(f"lets no client in from this address ({text})", run="Allow the address, or run FLUSH HOSTS")
    if code in (1820, 1862):
        return fail(f"the password of {user.user} has expired", run="Set a new one, in the server and in the Secret")
    if code in (3118, 4151):
        return fail(f"the user {user.user} is locked", run=f"Run ALTER USER '{user.user}'@'%' ACCOUNT UNLOCK")
    return fail(f"does not let {user.user} in ({code}: {text})", run="Look at the server's error log")


def _quoted(statement: str) -> str:
    return '"' + statement.replace('"', '\\"') + '"'
