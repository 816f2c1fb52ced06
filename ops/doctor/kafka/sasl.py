"""Kafka's authentication, spoken byte by byte: clients' libraries retry a refusal in silence and lose its reason.

Source: Kafka's protocol guide (SaslHandshake v1, SaslAuthenticate v1), RFC 5802 (SCRAM), RFC 4616 (PLAIN).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

    from ops.doctor.targets import Login

_SASL_HANDSHAKE, _SASL_AUTHENTICATE = 17, 36
UNSUPPORTED_MECHANISM, NO_SASL_HERE, REFUSED = 33, 34, 58
_LONGEST_ANSWER = 1 << 20


class SaslRefusedError(Exception):
    """The broker did not accept the user."""


class NoKafkaError(Exception):
    """What answers does not speak Kafka's protocol."""


@dataclass(frozen=True)
class Handshake:
    """A broker's answer to the wish for a mechanism.

    Args:
        error: 0, or one of the protocol's error codes.
        mechanisms: what it accepts.
    """

    error: int
    mechanisms: tuple[str, ...]


def handshake(connection: socket.socket, mechanism: str) -> Handshake:
    """Ask a broker for a mechanism."""
    answer = _Answer(_call(connection, _SASL_HANDSHAKE, _text(mechanism)))
    error = answer.number("!h")
    return Handshake(error, tuple(answer.text() for _ in range(answer.number("!i"))))


def authenticate(connection: socket.socket, mechanism: str, login: Login) -> None:
    """Prove to be a user, after a handshake for the mechanism.

    Raises:
        SaslRefusedError: wrong password or no such user.
    """
    if mechanism == "PLAIN":
        _step(connection, f"\0{login.user}\0{login.password.value}".encode())
        return
    scram = _Scram(mechanism, login)
    final = scram.answer(_step(connection, scram.first()))
    _step(connection, final)


def _step(connection: socket.socket, token: bytes) -> bytes:
    answer = _Answer(_call(connection, _SASL_AUTHENTICATE, struct.pack("!i", len(token)) + token))
    error, _ = answer.number("!h"), answer.text()
    if error:
        raise SaslRefusedError
    return answer.take(answer.number("!i"))


class _Scram:
    """The client's half of SCRAM, without channel binding."""

    def __init__(self, mechanism: str, login: Login) -> None:
        self._hash = "sha512" if mechanism.endswith("512") else "sha256"
        self._password = login.password.value.encode()
        user = login.user.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"n={user},r={secrets.token_urlsafe(18)}"

    def first(self) -> bytes:
        return f"n,,{self._bare}".encode()

    def answer(self, challenge: bytes) -> bytes:
        """Return the proof that answers the server's salt and count of iterations."""
        fields = dict(part.split("=", 1) for part in challenge.decode().split(","))
        salt, count = base64.b64decode(fields["s"]), int(fields["i"])
        salted = hashlib.pbkdf2_hmac(self._hash, self._password, salt, count)
        key = hmac.digest(salted, b"Client Key", self._hash)
        without_proof = f"c=biws,r={fields['r']}"
        signed = ",".join((self._bare, challenge.decode(), without_proof)).encode()
        signature = hmac.digest(hashlib.new(self._hash, key).digest(), signed, self._hash)
        proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()


def _call(connection: socket.socket, api: int, body: bytes) -> bytes:
    """Return the body of an answer. Both requests are of version 1, with headers of version 1."""
    request = struct.pack("!hhi", api, 1, 1) + _text("flotilla-doctor") + body
    connection.sendall(struct.pack("!i", len(request)) + request)
    (size,) = struct.unpack("!i", _read(connection, 4))
    if not 4 <= size <= _LONGEST_ANSWER:
        raise NoKafkaError
    return _read(connection, size)[4:]


def _read(connection: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count:
        part = connection.recv(count - len(content))
        if not part:
            raise ConnectionResetError("closed the connection")
        content += part
    return content


def _text(value: str) -> bytes:
    return struct.pack("!h", len(value.encode())) + value.encode()


class _Answer:
    """Reads an answer's fields in order."""

    def __init__(self, content: bytes) -> None:
        self._rest = content

    def take(self, count: int) -> bytes:
        if count > len(self._rest):
            raise NoKafkaError
        taken, self._rest = self._rest[: max(count, 0)], self._rest[max(count, 0) :]
        return taken

    def number(self, form: str) -> int:
        return int(struct.unpack(form, self.take(struct.calcsize(form)))[0])

    def text(self) -> str:
        return self.take(self.number("!h")).decode()
