"""What brokers are told: their properties, from the ports and rules of the whole cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers.process import HOST, Login, free_port

if TYPE_CHECKING:
    from tests.servers.certificates import Certificate

_FIXED = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "INNER",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
    "num.network.threads": "2",
    "num.io.threads": "2",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "controlled.shutdown.max.retries": "1",
}
_LOGIN_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
_UNPROTECTED = {"INNER": "PLAINTEXT", "CONTROLLER": "PLAINTEXT"}
"""Listeners of the brokers' own, on loopback; those who come by them are the brokers, so they may do everything."""


@dataclass(frozen=True, kw_only=True)
class BrokerPlan:
    """A cluster as its brokers see it.

    Args:
        folder: takes each broker's data.
        ports: port of each broker for clients.
        names: host name of each broker for process pods, if any.
        pod_ports: port of each broker for process pods.
        protocol: Kafka's name for how clients connect.
        mechanism: how clients prove who they are; None for not at all.
        administrator: who may do everything where all others need permission; None where nobody does.
        tls: certificate of every broker, if any.
        settings: properties that replace or add to all others.
    """

    folder: Path
    ports: Sequence[int]
    names: Sequence[str]
    pod_ports: Sequence[int]
    protocol: str
    mechanism: str | None
    administrator: str | None
    tls: Certificate | None
    settings: Mapping[str, str]
    _inner: dict[int, int] = field(default_factory=dict[int, int])
    _controllers: dict[int, int] = field(default_factory=dict[int, int])

    def __post_init__(self) -> None:
        for number in range(len(self.ports)):
            self._inner[number], self._controllers[number] = free_port(), free_port()

    def data(self, number: int) -> Path:
        """Return where a broker keeps its data."""
        return self.folder / f"broker-{number}"

    def properties(self, number: int) -> dict[str, str]:
        """Return a broker's properties; writes the key and certificate they name."""
        listeners = {"CLIENT": self.ports[number], "INNER": self._inner[number]}
        announced = {name: f"{HOST}:{port}" for name, port in listeners.items()}
        if self.names:
            listeners["POD"] = self.pod_ports[number]
            announced["POD"] = f"{self.names[number]}:{self.pod_ports[number]}"
        protocols = dict.fromkeys(listeners, self.protocol) | _UNPROTECTED
        listeners["CONTROLLER"] = self._controllers[number]
        voters = (f"{each}@{HOST}:{port}" for each, port in self._controllers.items())
        return {
            **_FIXED,
            "node.id": str(number),
            "controller.quorum.voters": ",".join(voters),
            "listeners": ",".join(f"{name}://{HOST}:{port}" for name, port in listeners.items()),
            "advertised.listeners": ",".join(f"{name}://{place}" for name, place in announced.items()),
            "listener.security.protocol.map": ",".join(f"{name}:{each}" for name, each in protocols.items()),
            "log.dirs": str(self.data(number)),
            **self._authentication(),
            **self._authorization(),
            **self._protection(),
            **self.settings,
        }

    def client(self, login: Login) -> dict[str, str]:
        """Return the properties with which Kafka's own tools connect as a user."""
        properties = {"security.protocol": self.protocol}
        if self.mechanism:
            who = f'username="{login.user}" password="{login.password}";'
            properties["sasl.mechanism"] = self.mechanism
            properties["sasl.jaas.config"] = f"{_LOGIN_MODULE} required {who}"
        if self.tls:
            properties |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(self.tls.authority)}
        return properties

    def _authentication(self) -> dict[str, str]:
        if self.mechanism is None:
            return {}
        properties = {"sasl.enabled.mechanisms": self.mechanism}
        for listener in ("client", "pod") if self.names else ("client",):
            key = f"listener.name.{listener}.{self.mechanism.lower()}.sasl.jaas.config"
            properties[key] = f"{_LOGIN_MODULE} required;"
        return properties

    def _authorization(self) -> dict[str, str]:
        if self.administrator is None:
            return {}
        return {
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": f"User:{self.administrator};User:ANONYMOUS",
            "allow.everyone.if.no.acl.found": "false",
        }

    def _protection(self) -> dict[str, str]:
        if self.tls is None:
            return {}
        pair = self.folder / "pair.pem"
        pair.touch(mode=0o600)
        pair.write_bytes(self.tls.key.read_bytes() + self.tls.path.read_bytes())
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(pair),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.tls.authority),
        }
