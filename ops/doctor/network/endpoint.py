"""An address of a target, and the bytes each protocol wants before TLS begins."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from ops.doctor.targets import Address
    from ops.doctor.tls import TlsFiles

Upgrade: TypeAlias = Callable[[socket.socket], None]
"""Speaks to a server until TLS may begin.

Raises:
    NoTlsError: the server does not offer it.
"""


class NoTlsError(Exception):
    """The server answers, but offers no TLS."""


class Networked(Protocol):
    """What the network checks ask of a probe."""

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the addresses to check."""
        ...

    @property
    def files(self) -> TlsFiles:
        """Return the target's certificates."""
        ...

    @property
    def timeout(self) -> float:
        """Return seconds that one answer may take."""
        ...


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An address of a target.

    Args:
        name: where the settings declare it.
        address: where the server listens.
        upgrade: what precedes TLS there.
    """

    name: str
    address: Address
    upgrade: Upgrade

    @property
    def subject(self) -> str:
        """Return what it is called in findings."""
        return f"{self.name} {self.address}"


def direct(_: socket.socket) -> None:
    """Begin TLS with the first byte, as Kafka, RabbitMQ and HTTPS do."""


def postgres(connection: socket.socket) -> None:
    """Ask PostgreSQL for TLS (SSLRequest)."""
    connection.sendall(struct.pack("!ii", 8, 80_877_103))
    if connection.recv(1) != b"S":
        raise NoTlsError


_CLIENT_SSL = 0x0800
_CLIENT_PROTOCOL_41 = 0x0200
_CLIENT_SECURE_CONNECTION = 0x8000
_ERROR_PACKET = 0xFF


def mysql(connection: socket.socket) -> None:
    """Ask MySQL for TLS (SSLRequest), after its greeting."""
    header = _read(connection, 4)
    greeting = _read(connection, int.from_bytes(header[:3], "little"))
    if greeting[0] == _ERROR_PACKET:
        raise NoTlsError
    rest = greeting[greeting.index(0, 1) + 1 :]  # past the version: thread id (4), seed (8), filler, capabilities
    if not int.from_bytes(rest[13:15], "little") & _CLIENT_SSL:
        raise NoTlsError
    wanted = _CLIENT_SSL | _CLIENT_PROTOCOL_41 | _CLIENT_SECURE_CONNECTION
    request = struct.pack("<IIB23x", wanted, 1 << 24, 45)
    connection.sendall(len(request).to_bytes(3, "little") + b"\x01" + request)


def _read(connection: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count:
        part = connection.recv(count - len(content))
        if not part:
            raise ConnectionResetError("closed the connection before its greeting ended")
        content += part
    return content
