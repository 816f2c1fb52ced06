"""How the exporter gets into each kind of broker: its part of the collector's configuration, credentials and files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from infra.components.data.events import flows
from infra.components.data.events.trust import ca_volume
from infra.core.parts import EnvironmentValue, FromSecret, Volume

if TYPE_CHECKING:
    from infra.settings.models.data.common import CaRef, SecretRef

CA_PATH = "/etc/credentials/ca"
CERTIFICATE_PATH = "/etc/credentials/certificate"
TIMEOUT = "10s"

RETRIES: dict[str, object] = {
    "enabled": True,
    "initial_interval": "1s",
    "max_interval": "30s",
    "max_elapsed_time": "0s",
}
"""Never give an event up."""

Config = dict[str, object]


class Broker(Protocol):
    """What the exporter has to know of a broker."""

    @property
    def kind(self) -> str:
        """The collector's name for its exporter."""
        ...

    @property
    def extensions(self) -> Config:
        """Extensions of the collector that its exporter needs."""
        ...

    @property
    def environment(self) -> dict[str, EnvironmentValue]:
        """Variables that hold what is secret."""
        ...

    @property
    def volumes(self) -> tuple[Volume, ...]:
        """Certificates."""
        ...

    def exporter(self, flow: str) -> Config:
        """Return the configuration of the exporter of one flow."""
        ...


@dataclass(frozen=True, kw_only=True)
class _Secured:
    """What clients of every broker have in common.

    Args:
        encrypted: whether connections are encrypted, and the server's certificate and name checked.
        ca: authority whose certificates are trusted; None for those that the image brings.
        certificate: Secret with the exporter's certificate and key; None for none.
        credentials: the exporter's user and password; None for none.
    """

    encrypted: bool
    ca: CaRef | None = None
    certificate: str | None = None
    credentials: SecretRef | None = None

    @property
    def environment(self) -> dict[str, EnvironmentValue]:
        """Variables that hold what is secret."""
        if self.credentials is None:
            return {}
        secret = self.credentials.secret
        return {
            "BROKER_USERNAME": FromSecret(secret=secret, key=self.credentials.username_key),
            "BROKER_PASSWORD": FromSecret(secret=secret, key=self.credentials.password_key),
        }

    @property
    def volumes(self) -> tuple[Volume, ...]:
        """Certificates."""
        found: list[Volume] = []
        if self.ca:
            found.append(ca_volume(self.ca, CA_PATH))
        if self.certificate:
            found.append(Volume(name="certificate", path=CERTIFICATE_PATH, secret=self.certificate))
        return tuple(found)

    def _tls(self) -> Config:
        if not self.encrypted:
            return {}
        settings: Config = {"ca_file": f"{CA_PATH}/{self.ca.key}"} if self.ca else {"insecure": False}
        if self.certificate:
            settings |= {"cert_file": f"{CERTIFICATE_PATH}/tls.crt", "key_file": f"{CERTIFICATE_PATH}/tls.key"}
        return {"tls": settings}


@dataclass(frozen=True, kw_only=True)
class KafkaBroker(_Secured):
    """A Kafka cluster, whoever runs it.

    Args:
        servers: brokers to start from, as host:port.
        prefix: what the topics' names start with.
        mechanism: how the password is proven; None for no password.
        username: the exporter's user where the Secret holds a password only.
    """

    servers: tuple[str, ...]
    prefix: str
    mechanism: str | None = None
    username: str | None = None
    kind: str = field(default="kafka", init=False)

    @property
    def environment(self) -> dict[str, EnvironmentValue]:
        """Variables that hold what is secret."""
        return super().environment | ({"BROKER_USERNAME": self.username} if self.username else {})

    @property
    def extensions(self) -> Config:
        """Extensions of the collector that its exporter needs."""
        return {}

    def exporter(self, flow: str) -> Config:
        """Return the exporter of one flow: an event counts as sent once all in-sync copies are written."""
        return {
            "brokers": list(self.servers),
            "client_id": flows.EXPORTER,
            "protocol_version": "3.6.0",
            **self._tls(),
            **self._login(),
            "timeout": TIMEOUT,
            "logs": {"topic": f"{self.prefix}{flow}", "encoding": "raw"},
            "partition_logs_by_resource_attributes": True,
            "producer": {"required_acks": "all", "compression": "zstd", "allow_auto_topic_creation": False},
            "retry_on_failure": RETRIES,
            "sending_queue": QUEUE,
        }

    def _login(self) -> Config:
        if self.mechanism is None:
            return {}
        login = {
            "mechanism": self.mechanism,
            "username": "${env:BROKER_USERNAME}",
            "password": "${env:BROKER_PASSWORD}",
        }
        return {"auth": {"sasl": login}}


QUEUE: Config = {
    "storage": "file_storage",
    "sizer": "items",
    "queue_size": 100_000,
    "block_on_overflow": True,
    "num_consumers": 4,
}
"""Events wait on disk, and a full queue holds the watch up rather than drop one."""


@dataclass(frozen=True, kw_only=True)
class RabbitBroker(_Secured):
    """A RabbitMQ cluster, whoever runs it.

    Args:
        address: host and port.
        vhost: virtual host of the queues.
    """

    address: str
    vhost: str
    kind: str = field(default="rabbitmq", init=False)

    @property
    def extensions(self) -> Config:
        """Extensions of the collector that its exporter needs: what writes an event as JSON."""
        return {"text_encoding": {"encoding": "utf8", "marshaling_separator": ""}}

    def exporter(self, flow: str) -> Config:
        """Return the exporter of one flow: an event counts as sent once the queue's majority confirms it."""
        return {
            "connection": {
                "endpoint": f"{'amqps' if self.encrypted else 'amqp'}://{self.address}",
                "vhost": self.vhost,
                "name": flows.EXPORTER,
                "publish_confirmation_timeout": TIMEOUT,
                "auth": {"plain": {"username": "${env:BROKER_USERNAME}", "password": "${env:BROKER_PASSWORD}"}},
                **self._tls(),
            },
            "routing": {"routing_key": flow},
            "durable": True,
            "encoding_extension": "text_encoding",
            "retry_on_failure": RETRIES,
        }
