"""The two ways into a RabbitMQ cluster, AMQP and the management API, and what their errors mean."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
import pika
from pika import exceptions
from pika.adapters.utils.connection_workflow import AMQPConnectorException

from ops.doctor.check import Verdict, fail
from ops.doctor.network.endpoint import Endpoint, direct
from ops.doctor.server_probe import ServerProbe

if TYPE_CHECKING:
    from collections.abc import Generator

    from pika.adapters.blocking_connection import BlockingConnection

    from ops.doctor.targets import Address, Login, RabbitMqTarget


class ApiRefusedError(Exception):
    """The management API answered with an error.

    Args:
        status: HTTP status.
        reason: what it says.
    """

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        super().__init__(reason)


class RabbitMqProbe(ServerProbe["RabbitMqTarget"]):
    """A cluster.

    Args:
        target: the target.
        timeout: seconds that one answer may take.
    """

    def __init__(self, target: RabbitMqTarget, timeout: float) -> None:
        self.nodes = tuple(Endpoint(name=target.name, address=address, upgrade=direct) for address in target.hosts)
        api = Endpoint(name=f"{target.name} management", address=target.management, upgrade=direct)
        super().__init__(target, (*self.nodes, api), timeout)
        self._api: httpx.Client | None = None

    @property
    def caller(self) -> Login:
        """Return who asks the management API: the administrator, else who publishes events."""
        return self.target.admin or self.target.login

    def ask(self, *path: str, method: str = "GET", body: dict[str, str] | None = None) -> httpx.Response:
        """Return the management API's answer to a path of words, whatever it is."""
        if self._api is None:
            login, protected = self.caller, self.files.tls.enabled
            self._api = httpx.Client(
                base_url=f"{'https' if protected else 'http'}://{self.target.management}/api/",
                auth=(login.user, login.password.value),
                timeout=self.patience,
                verify=self.files.context() if protected else True,
                trust_env=False,
            )
        return self._api.request(method, "/".join(quote(word, safe="") for word in path), json=body)

    def get(self, *path: str) -> Any:
        """Return what the management API says at a path of words.

        Raises:
            ApiRefusedError: it answered with an error.
        """
        answer = self.ask(*path)
        if answer.is_error:
            raise ApiRefusedError(answer.status_code, _reason(answer))
        return answer.json()

    @contextlib.contextmanager
    def connected(self, address: Address, login: Login, vhost: str) -> Generator[BlockingConnection]:
        """Connect to a node over AMQP, and close the connection if the node has not done so."""
        connection = self._connect(address, login, vhost)
        try:
            yield connection
        finally:
            if connection.is_open:
                connection.close()

    def _connect(self, address: Address, login: Login, vhost: str) -> BlockingConnection:
        options = pika.SSLOptions(self.files.context(), address.host) if self.files.tls.enabled else None
        return pika.BlockingConnection(
            pika.ConnectionParameters(
                host=address.host,
                port=address.port,
                virtual_host=vhost,
                credentials=pika.PlainCredentials(login.user, login.password.value),
                ssl_options=options,
                connection_attempts=1,
                socket_timeout=self.patience,
                stack_timeout=self.patience,
                blocked_connection_timeout=self.patience,
                heartbeat=0,
            )
        )

    def explain(self, error: Exception) -> Verdict | None:
        """Return what a client's error means."""
        if isinstance(error, ApiRefusedError):
            return fail(f"the management API refuses ({error.status}: {error})", run="Look at the server's log")
        if isinstance(error, httpx.HTTPError | ValueError):
            return fail(
                f"the management API does not answer as one ({type(error).__name__})",
                run="Run rabbitmq-plugins enable rabbitmq_management, and correct `managementPort`",
            )
        if isinstance(error, exceptions.ConnectionBlockedTimeout):
            return fail("blocks publishers: an alarm is in force", run="Run rabbitmq-diagnostics alarms")
        if isinstance(error, AMQPConnectorException):
            return fail("does not speak AMQP on this port", run="Use 5672 without TLS and 5671 with it")
        if isinstance(error, exceptions.AMQPError):
            return fail(f"ended the conversation ({text_of(error)})", run="Look at the server's log")
        return None

    def close(self) -> None:
        """Close the API's connections, and remove the certificates' files."""
        self.files.close()
        if self._api is not None:
            self._api.close()


def text_of(error: Exception) -> str:
    """Return what a server gave as the reason of an AMQP error."""
    reason = getattr(error, "reply_text", None) or (error.args[-1] if error.args else None)
    return " ".join(str(reason or type(error).__name__).split())


def _reason(answer: httpx.Response) -> str:
    try:
        content = answer.json()
    except ValueError:
        return answer.reason_phrase
    return str(content.get("reason") or content.get("error") or answer.reason_phrase)
