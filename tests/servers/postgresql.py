"""PostgreSQL."""

from __future__ import annotations

import shutil
import signal
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from tests.servers.archives import unpack_tar
from tests.servers.install import Files, Program, clean_environment
from tests.servers.process import HOST, Login, ServerProcess, free_port, new_password
from tests.servers.server import SingleServer

if TYPE_CHECKING:
    from tests.servers.certificates import Certificate

_EVERYONE = "127.0.0.1/32"
_INIT_SECONDS = 120.0
_QUICK = {"fsync": "off", "shared_buffers": "32MB", "max_wal_senders": "4", "wal_level": "replica"}

Rows = list[tuple[Any, ...]]


def _unpack(files: Files, folder: Path) -> None:
    (archive,) = files.values()
    with zipfile.ZipFile(archive) as content:
        unpack_tar(content.read("postgres-linux-x86_64.txz"), folder)


PROGRAM = Program(name="postgresql", unpack=_unpack)


class PostgreSql(SingleServer):
    """One PostgreSQL server.

    Args:
        folder: a folder that nothing else uses.
        tls: certificate it offers TLS with; without one it has none.
        require_tls: whether it refuses unprotected connections.
        encryption: how passwords are kept and proven: `scram-sha-256` or `md5`.
        hba: lines of `pg_hba.conf` that come before the one that lets everybody in with a password.
        settings: lines of `postgresql.conf`.
        admin: name of the superuser.
    """

    log_name = "postgresql.log"

    def __init__(
        self,
        folder: Path,
        *,
        tls: Certificate | None = None,
        require_tls: bool = False,
        encryption: str = "scram-sha-256",
        hba: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        admin: str = "admin",
    ) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.admin = Login(admin, new_password())
        self.tls = tls
        self._program = PROGRAM.ensure()
        self._data = folder / "data"
        self._encryption = encryption
        kind = "hostssl" if require_tls else "host"
        self._hba = [
            *hba,
            f"{kind} all all {_EVERYONE} {encryption}",
            f"{kind} replication all {_EVERYONE} {encryption}",
        ]
        self._settings = dict(settings or {})
        self._process = self._new_process([str(self._program / "bin" / "postgres"), "-D", str(self._data)])

    def start(self) -> None:
        """Start it, with the data it had."""
        if not self._data.exists():
            self._create()
        self._configure()
        self._process.start()
        self._process.wait_ready(self._answers)

    def connect(
        self,
        *,
        user: str | None = None,
        password: str | None = None,
        database: str = "postgres",
        sslmode: str | None = None,
    ) -> psycopg.Connection[tuple[Any, ...]]:
        """Connect, as the administrator unless told otherwise, with verified TLS where the server offers it."""
        mode = sslmode or ("verify-full" if self.tls else "disable")
        return psycopg.connect(
            host=HOST,
            port=self.port,
            user=user or self.admin.user,
            password=self.admin.password if password is None else password,
            dbname=database,
            sslmode=mode,
            connect_timeout=10,
            autocommit=True,
            sslrootcert=str(self.tls.authority) if self.tls and mode.startswith("verify") else None,
        )

    def execute(self, statement: str, *values: object, database: str = "postgres") -> Rows:
        """Run a statement as the administrator; return its rows."""
        with self.connect(database=database) as connection:
            cursor = connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def create_user(self, name: str, password: str | None = None, *grants: str) -> Login:
        """Create a user who may log in; grants are such as `CONNECT ON DATABASE katib`."""
        login = Login(name, password or new_password())
        with self.connect() as connection:
            create = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
            connection.execute(create.format(sql.Identifier(name), sql.Literal(login.password)))
            for grant in grants:
                connection.execute(f'GRANT {grant} TO "{name}"'.encode())
        return login

    def standby(self, folder: Path) -> PostgreSql:
        """Return a started hot standby that follows this server; its administrator is the same.

        The copy is made while this server is stopped for a moment.
        """
        other = PostgreSql(folder, tls=self.tls, encryption=self._encryption, settings=self._settings)
        other.admin = self.admin
        self.stop()
        shutil.copytree(self._data, other.folder / "data", ignore=shutil.ignore_patterns("postmaster.pid"))
        self.start()
        (other.folder / "data" / "standby.signal").touch()
        primary = {"host": HOST, "port": self.port, "user": self.admin.user, "password": self.admin.password}
        other._settings["primary_conninfo"] = " ".join(f"{key}={value}" for key, value in primary.items())
        other.start()
        return other

    def _create(self) -> None:
        secret = self.folder / "password"
        secret.touch(mode=0o600)
        secret.write_text(self.admin.password)
        tool = self._new_process(
            [
                *(str(self._program / "bin" / "initdb"), "-D", str(self._data), "-U", self.admin.user),
                *("--pwfile", str(secret), "-A", self._encryption, "--no-sync", "-E", "UTF8", "--locale", "C.UTF-8"),
            ]
        )
        tool.start()
        tool.run_to_end(_INIT_SECONDS)
        secret.unlink()

    def _configure(self) -> None:
        settings = {
            **_QUICK,
            "listen_addresses": HOST,
            "port": str(self.port),
            "unix_socket_directories": "",
            "password_encryption": self._encryption,
            **self._protection(),
            **self._settings,
        }
        lines = "".join(f"{name} = '{value}'\n" for name, value in settings.items())
        (self._data / "postgresql.conf").write_text(lines)
        (self._data / "pg_hba.conf").write_text("".join(f"{line}\n" for line in self._hba))

    def _protection(self) -> dict[str, str]:
        if self.tls is None:
            return {"ssl": "off"}
        return {
            "ssl": "on",
            "ssl_cert_file": str(self.tls.path),
            "ssl_key_file": str(self.tls.key),
            "ssl_ca_file": str(self.tls.authority),
        }

    def _new_process(self, command: list[str]) -> ServerProcess:
        return ServerProcess(
            command,
            log=self.log,
            folder=self.folder,
            environment=clean_environment(LD_LIBRARY_PATH=str(self._program / "lib"), TZ="UTC"),
            hide_root=True,
            stop_signal=signal.SIGINT,
        )

    def _answers(self) -> bool:
        try:
            self.connect(sslmode="prefer").close()
        except psycopg.OperationalError:
            return False
        return True
