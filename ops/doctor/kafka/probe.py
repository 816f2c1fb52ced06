"""Clients of one Kafka cluster, and what their errors mean."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafka import KafkaAdminClient, errors
from kafka.net.compat import KafkaNetClient

from ops.doctor.check import Verdict, fail
from ops.doctor.network.endpoint import Endpoint, direct
from ops.doctor.server_probe import ServerProbe

if TYPE_CHECKING:
    from ops.doctor.targets import KafkaTarget


_ELSEWHERE = (errors.KafkaConnectionError, errors.NodeNotReadyError)
_PAUSE_SECONDS = 0.1


class KafkaProbe(ServerProbe["KafkaTarget"]):
    """A cluster.

    Args:
        target: the target.
        timeout: seconds that one answer may take.
    """

    def __init__(self, target: KafkaTarget, timeout: float) -> None:
        endpoints = (Endpoint(name=target.name, address=address, upgrade=direct) for address in target.bootstrap)
        super().__init__(target, endpoints, timeout)
        self._admin: KafkaAdminClient | None = None
        self._connections: list[KafkaNetClient] = []

    @property
    def patience_ms(self) -> int:
        """Return milliseconds that one answer may take, less what is needed to say so."""
        return int(self.patience * 1000)

    @property
    def user(self) -> str:
        """Return what the brokers call the user."""
        if self.target.login:
            return f"User:{self.target.login.user}"
        return "the certificate's user" if self.files.certificate else "User:ANONYMOUS"

    @property
    def client_settings(self) -> dict[str, Any]:
        """Return the settings that all clients share."""
        target = self.target
        protocol = "SSL" if target.tls.enabled else "PLAINTEXT"
        settings: dict[str, Any] = {
            "bootstrap_servers": [str(address) for address in target.bootstrap],
            "client_id": "flotilla-doctor",
            "request_timeout_ms": self.patience_ms,
            "bootstrap_timeout_ms": self.patience_ms,
            "security_protocol": f"SASL_{protocol}" if target.mechanism else protocol,
            "kafka_client": self._connect,
        }
        if target.tls.enabled:
            settings["ssl_context"] = self.files.context()
            settings["ssl_check_hostname"] = target.tls.mode == "verify-full"
        if target.mechanism and target.login:
            settings |= {
                "sasl_mechanism": target.mechanism,
                "sasl_plain_username": target.login.user,
                "sasl_plain_password": target.login.password.value,
            }
        return settings

    def open(self) -> None:
        """Connect for administration."""
        self._admin = KafkaAdminClient(**self.client_settings)

    @property
    def admin(self) -> Any:  # the type checker's stubs describe an older KafkaAdminClient
        """Return the client that `open` made; it asks another broker where one does not answer."""
        if self._admin is None:
            raise errors.KafkaConnectionError("not connected")
        return _Persistent(self._admin, self.patience_ms / 1000)

    @property
    def brokers(self) -> list[dict[str, Any]]:
        """Return the brokers that are alive."""
        return [node for node in self.admin.describe_cluster()["brokers"] if not node.get("is_fenced")]

    def explain(self, error: Exception) -> Verdict | None:
        """Return what a client's error means."""
        if not isinstance(error, errors.KafkaError):
            return None
        if isinstance(error, errors.AuthorizationError):
            return fail(
                f"{self.user} may not do what this check does ({name_of(error)})",
                run="Grant it with kafka-acls.sh, or declare an administrator that may",
            )
        if isinstance(error, errors.KafkaTimeoutError | errors.RequestTimedOutError):
            return fail("the brokers did not answer in time", run="Look at the brokers' logs and load")
        return fail(f"the brokers refused ({name_of(error)})", run="Look at the brokers' logs")

    def close(self) -> None:
        """Close all connections, also those of clients that never came to be; remove the certificates' files."""
        self.files.close()
        for connection in self._connections:
            connection.close()

    def _connect(self, **settings: Any) -> KafkaNetClient:
        """Return a client's connections, remembered so that they can be closed when the client fails to start."""
        connection = KafkaNetClient(**settings)
        self._connections.append(connection)
        return connection


class _Persistent:
    """A client whose calls are repeated while a broker cannot be reached: it picks one at random, dead ones too."""

    def __init__(self, client: KafkaAdminClient, seconds: float) -> None:
        self._client = client
        self._seconds = seconds

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._client, name)

        def call(*arguments: Any, **options: Any) -> Any:
            deadline = time.monotonic() + self._seconds
            while True:
                try:
                    return method(*arguments, **options)
                except _ELSEWHERE:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(_PAUSE_SECONDS)

        return call


def name_of(error: Exception) -> str:
    """Return the name of an error as Kafka's documentation has it, without the request that it quotes."""
    return type(error).__name__.removesuffix("Error")
