"""Kafka's authentication byte by byte, against the other half of a socket."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from ops.doctor.kafka.sasl import Handshake, NoKafkaError, SaslRefusedError, authenticate, handshake
from ops.doctor.secret import Secret
from ops.doctor.targets import Login

ALICE = Login(user="alice", password=Secret("correct-horse"), source="Secret a/b")


@contextmanager
def answering(*bodies: bytes) -> Generator[tuple[socket.socket, list[bytes]]]:
    """Yield a connection whose other side gives these answers, and the requests it got."""
    ours, theirs = socket.socketpair()
    requests: list[bytes] = []

    def serve() -> None:
        for body in bodies:
            size = struct.unpack("!i", theirs.recv(4))[0]
            requests.append(theirs.recv(size))
            theirs.sendall(struct.pack("!ii", len(body) + 4, 1) + body)

    thread = threading.Thread(target=serve)
    thread.start()
    with ours, theirs:
        yield ours, requests
        thread.join()


def text(value: str | None) -> bytes:
    return struct.pack("!h", -1) if value is None else struct.pack("!h", len(value)) + value.encode()


def step(token: bytes, error: int = 0) -> bytes:
    return struct.pack("!h", error) + text(None) + struct.pack("!i", len(token)) + token + struct.pack("!q", 0)


def test_a_handshake_tells_the_mechanisms() -> None:
    body = struct.pack("!hi", 33, 2) + text("PLAIN") + text("SCRAM-SHA-512")
    with answering(body) as (connection, requests):
        assert handshake(connection, "SCRAM-SHA-256") == Handshake(33, ("PLAIN", "SCRAM-SHA-512"))

    assert requests[0].startswith(struct.pack("!hhi", 17, 1, 1))
    assert requests[0].endswith(text("SCRAM-SHA-256"))


def test_plain_sends_user_and_password() -> None:
    with answering(step(b"")) as (connection, requests):
        authenticate(connection, "PLAIN", ALICE)

    assert requests[0].endswith(b"\0alice\0correct-horse")


def test_scram_proves_the_password_without_sending_it() -> None:
    challenge = b"r=nonce,s=c2FsdHNhbHQ=,i=4096"
    with answering(step(challenge), step(b"v=")) as (connection, requests):
        authenticate(connection, "SCRAM-SHA-512", ALICE)

    assert b"n,,n=alice,r=" in requests[0]
    assert b"c=biws,r=nonce,p=" in requests[1]
    assert b"correct-horse" not in b"".join(requests)


def test_a_refusal_is_told_apart() -> None:
    with answering(step(b"", error=58)) as (connection, _), pytest.raises(SaslRefusedError):
        authenticate(connection, "PLAIN", ALICE)


def test_another_protocol_is_told_apart() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        with pytest.raises(NoKafkaError):
            handshake(ours, "PLAIN")


def test_a_closed_connection_is_told_apart() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        theirs.close()
        with pytest.raises(OSError, match=r"closed|pipe|reset"):
            handshake(ours, "PLAIN")
