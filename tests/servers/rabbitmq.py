"""RabbitMQ, with its management API."""

from __future__ import annotations

import shutil
import ssl
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from tests.servers.archives import unpack_debian
from tests.servers.install import Files, Program, clean_environment
from tests.servers.process import (
    HOST,
    Login,
    ServerError,
    ServerProcess,
    free_port,
    listens,
    new_password,
)
from tests.servers.server import SingleServer

if TYPE_CHECKING:
    from tests.servers.certificates import Certificate

_ROOT_OF_DEBIAN = "ROOTDIR=/usr/lib/erlang"
_ROOT_OF_SCRIPT = 'ROOTDIR=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)'
_TIMEOUT_SECONDS = 30.0


def _unpack(files: Files, folder: Path) -> None:
    aside = folder / "packages"
    for file in files.values():
        unpack_debian(file, aside)
    erlang = folder / "erlang"
    (aside / "usr/lib/erlang").rename(erlang)
    (server,) = (aside / "usr/lib/rabbitmq/lib").glob("rabbitmq_server-*")
    server.rename(folder / "rabbitmq")
    shutil.rmtree(aside)
    starter = erlang / "bin" / "erl"
    starter.write_text(starter.read_text().replace(_ROOT_OF_DEBIAN, _ROOT_OF_SCRIPT))


PROGRAM = Program(name="rabbitmq", unpack=_unpack)


class RabbitMq(SingleServer):
    """One RabbitMQ server.

    Args:
        folder: a folder that nothing else uses.
        tls: certificate it offers TLS with, on `tls_port` and for the management API; without one it has none.
        settings: lines of `rabbitmq.conf`.
    """

    log_name = "rabbitmq.log"

    def __init__(
        self, folder: Path, *, tls: Certificate | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(folder)
        self.port, self.tls_port, self.management_port = free_port(), free_port(), free_port()
        self.admin = Login("admin", new_password())
        self.tls = tls
        self._mapper_port, self._distribution_port = free_port(), free_port()
        self._program = PROGRAM.ensure()
        self._settings = dict(settings or {})
        environment = self._environment()
        self._mapper = ServerProcess(
            [str(next(self._program.glob("erlang/erts-*/bin/epmd")))],
            log=folder / "epmd.log",
            folder=folder,
            environment=environment,
        )
        self._process = ServerProcess(
            [str(self._program / "rabbitmq" / "sbin" / "rabbitmq-server")],
            log=self.log,
            folder=folder,
            environment=environment,
            grace_seconds=15,
        )

    @property
    def management(self) -> str:
        """Address of the management API."""
        return f"{'https' if self.tls else 'http'}://{HOST}:{self.management_port}"

    def start(self) -> None:
        """Start it, with the data it had."""
        self._configure()
        if not self._mapper.running:
            self._mapper.start()
            self._mapper.wait_ready(lambda: listens(self._mapper_port))
        self._process.start()
        self._process.wait_ready(self._answers)

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        super().stop()
        self._mapper.stop()

    def api(self, method: str, path: str, json: object = None, login: Login | None = None) -> httpx.Response:
        """Ask the management API, as the administrator unless told otherwise; path is such as `/api/vhosts`."""
        who = login or self.admin
        return httpx.request(
            method,
            self.management + path,
            json=json,
            auth=(who.user, who.password),
            verify=ssl.create_default_context(cafile=str(self.tls.authority)) if self.tls else True,
            timeout=_TIMEOUT_SECONDS,
        )

    def create_vhost(self, name: str) -> None:
        """Create a virtual host; the administrator may do everything in it."""
        self._do("PUT", f"/api/vhosts/{_quoted(name)}")
        self.permit(self.admin.user, name)

    def create_user(self, name: str, password: str | None = None, tags: str = "") -> Login:
        """Create a user, who may do nothing yet."""
        login = Login(name, password or new_password())
        self._do("PUT", f"/api/users/{_quoted(name)}", {"password": login.password, "tags": tags})
        return login

    def permit(self, user: str, vhost: str, configure: str = ".*", write: str = ".*", read: str = ".*") -> None:
        """Set what a user may do in a virtual host, by patterns of names."""
        rights = {"configure": configure, "write": write, "read": read}
        self._do("PUT", f"/api/permissions/{_quoted(vhost)}/{_quoted(user)}", rights)

    def declare_queue(self, vhost: str, name: str, kind: str = "quorum") -> None:
        """Create a durable queue: `quorum` or `classic`."""
        body: dict[str, Any] = {"durable": True, "arguments": {"x-queue-type": kind}}
        self._do("PUT", f"/api/queues/{_quoted(vhost)}/{_quoted(name)}", body)

    def _do(self, method: str, path: str, json: object = None) -> None:
        answer = self.api(method, path, json)
        if answer.is_error:
            raise ServerError(f"{method} {path}: {answer.status_code} {answer.text}")

    def _configure(self) -> None:
        lines = {
            "listeners.tcp.1": f"{HOST}:{self.port}",
            "default_user": self.admin.user,
            "default_pass": self.admin.password,
            "loopback_users": "none",
            "log.console": "true",
            "log.console.level": "warning",
            "log.file": "false",
            "disk_free_limit.absolute": "1MB",
            **self._protection(),
            **self._settings,
        }
        file = self.folder / "rabbitmq.conf"
        file.touch(mode=0o600)
        file.write_text("".join(f"{key} = {value}\n" for key, value in lines.items()))
        (self.folder / "enabled_plugins").write_text("[rabbitmq_management].\n")
        (self.folder / "advanced.config").write_text("[{kernel, [{inet_dist_use_interface, {127,0,0,1}}]}].\n")

    def _protection(self) -> dict[str, str]:
        if self.tls is None:
            return {"management.tcp.ip": HOST, "management.tcp.port": str(self.management_port)}
        files = {"cacertfile": self.tls.authority, "certfile": self.tls.path, "keyfile": self.tls.key}
        return {
            "listeners.ssl.1": f"{HOST}:{self.tls_port}",
            "management.ssl.ip": HOST,
            "management.ssl.port": str(self.management_port),
            "ssl_options.verify": "verify_none",
            "ssl_options.fail_if_no_peer_cert": "false",
            **{f"ssl_options.{name}": str(path) for name, path in files.items()},
            **{f"management.ssl.{name}": str(path) for name, path in files.items()},
        }

    def _environment(self) -> dict[str, str]:
        folder, clean = self.folder, clean_environment()
        return {
            **clean,
            "PATH": f"{self._program / 'erlang' / 'bin'}:{clean['PATH']}",
            "HOME": str(folder),
            "ERL_EPMD_PORT": str(self._mapper_port),
            "ERL_EPMD_ADDRESS": HOST,
            "ERL_CRASH_DUMP": "/dev/null",
            "RABBITMQ_NODENAME": f"rabbit{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder / "logs"),
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "advanced.config"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none -start_epmd false",
        }

    def _answers(self) -> bool:
        try:
            return self.api("GET", "/api/health/checks/virtual-hosts").is_success
        except httpx.HTTPError:
            return False


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")
