"""The databases' servers as the Job that prepares them and its consumers see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tests.e2e.objects import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.servers.mariadb import MariaDb
    from tests.servers.postgresql import PostgreSql
    from tests.servers.process import Login

SCHEMAS = {
    "mysql": {"pipelines": "mlpipeline", "cache": "cachedb", "metadata": "metadb"},
    "postgresql": {"katib": "katib", "modelRegistry": "model_registry", "modelCatalog": "model_catalog"},
}


class Engine(Protocol):
    """What the tests ask of either kind of server."""

    name: str
    users: dict[str, Login]

    def state(self) -> object:
        """Return everything the Job is there for: databases, users and what they may do."""
        ...

    def databases(self) -> set[str]:
        """Return the names of the consumers' databases that exist."""
        ...

    def hold_after_first(self) -> Callable[[], None]:
        """Wait until the first consumer's user exists, then hold all later steps up; return what lets them go on."""
        ...


class MySql:
    """A server that speaks MySQL's protocol."""

    name = "mysql"

    def __init__(self, server: MariaDb) -> None:
        self.server = server
        self.users: dict[str, Login] = {}

    def state(self) -> object:
        rows = [self.server.execute("SHOW DATABASES")]
        for login in self.users.values():
            rows.append(self.server.execute(f"SHOW CREATE USER '{login.user}'@'%'"))
            rows.append(self.server.execute(f"SHOW GRANTS FOR '{login.user}'@'%'"))
        return [sorted(row) for row in rows]

    def databases(self) -> set[str]:
        return {row[0] for row in self.server.execute("SHOW DATABASES")} & set(SCHEMAS["mysql"].values())

    def hold_after_first(self) -> Callable[[], None]:
        connection = self.server.connect()
        cursor = connection.cursor()
        first = next(iter(self.users.values())).user
        eventually(lambda: cursor.execute("SELECT 1 FROM mysql.global_priv WHERE User = %s", (first,)) > 0)
        cursor.execute("FLUSH TABLES WITH READ LOCK")
        return connection.close

    def as_user(self, consumer: str, statement: str, *, tls: bool = True) -> None:
        """Run a statement as a consumer's user, in its database."""
        login, schema = self.users[consumer], SCHEMAS["mysql"][consumer]
        with (
            self.server.connect(user=login.user, password=login.password, database=schema, tls=tls) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)


class Postgres:
    """A PostgreSQL server."""

    name = "postgresql"

    def __init__(self, server: PostgreSql) -> None:
        self.server = server
        self.users: dict[str, Login] = {}

    def state(self) -> object:
        roles = "SELECT rolname, rolsuper, rolcreatedb, rolcreaterole, rolconnlimit FROM pg_roles ORDER BY 1"
        databases = "SELECT datname, datacl::text FROM pg_database ORDER BY 1"
        schemas = "SELECT nspacl::text FROM pg_namespace WHERE nspname = 'public'"
        return (
            self.server.execute(roles),
            self.server.execute(databases),
            [self.server.execute(schemas, database=name) for name in sorted(self.databases())],
        )

    def databases(self) -> set[str]:
        rows = self.server.execute("SELECT datname FROM pg_database")
        return {row[0] for row in rows} & set(SCHEMAS["postgresql"].values())

    def hold_after_first(self) -> Callable[[], None]:
        first = next(iter(self.users.values())).user
        eventually(lambda: bool(self.server.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", first)))
        connection = self.server.connect()
        connection.autocommit = False
        connection.execute("LOCK TABLE pg_authid IN SHARE ROW EXCLUSIVE MODE")
        return connection.close

    def as_user(self, consumer: str, statement: str, *, database: str | None = None) -> None:
        """Run a statement as a consumer's user, in its database."""
        login = self.users[consumer]
        where = database or SCHEMAS["postgresql"][consumer]
        with self.server.connect(user=login.user, password=login.password, database=where) as connection:
            connection.execute(statement.encode())
