"""The doctor's way to a server: names, ports, silence and certificates, each broken on its own."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from ops.doctor.examine import Examination
from ops.doctor.mysql import WRITER
from ops.doctor.mysql.probe import MySqlProbe
from ops.doctor.network import REACH
from ops.doctor.plan.endpoint import EndpointProbe
from ops.doctor.targets import EndpointTarget, MySqlTarget, Tls
from tests.e2e.doctor_cases import HOST, Seen, address, examined, seen, trusting, wrong
from tests.servers.certificates import Authority, Certificate
from tests.servers.process import free_port

pytestmark = pytest.mark.e2e

NAME = "data.databases.mysql"
QUICK = 1.0
"""Seconds to wait for servers that never answer."""


@contextmanager
def listening(serve: Callable[[socket.socket], None]) -> Generator[int]:
    """Serve each connection by a function; yields the port."""
    with socket.create_server((HOST, 0)) as server:
        server.settimeout(0.1)
        ended = threading.Event()

        def accept() -> None:
            while not ended.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with closing(connection):
                    connection.settimeout(5)
                    serve(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield int(server.getsockname()[1])
        finally:
            ended.set()
            thread.join()


def say_nothing(_: socket.socket) -> None:
    """Keep a connection open for longer than the doctor waits."""
    threading.Event().wait(3 * QUICK)


@contextmanager
def tls_server(certificate: Certificate, *, wants_client: bool = False) -> Generator[int]:
    """Serve TLS, and nothing behind it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(certificate.authority))
    context.load_cert_chain(certificate.path, certificate.key)
    context.verify_mode = ssl.CERT_REQUIRED if wants_client else ssl.CERT_NONE

    def serve(connection: socket.socket) -> None:
        try:
            with context.wrap_socket(connection, server_side=True) as secured:
                secured.recv(1)
        except OSError:
            return

    with listening(serve) as port:
        yield port


@pytest.fixture
def full() -> Iterator[int]:
    """Yield a port whose queue of connections is full, so that the kernel drops what comes."""
    with socket.socket() as server:
        server.bind((HOST, 0))
        server.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(server.getsockname())
        yield int(server.getsockname()[1])
        for each in waiting:
            each.close()


def looked(port: int, tls: Tls | None = None, host: str = HOST, timeout: float = 5) -> Seen:
    target = EndpointTarget(name=NAME, addresses=(address(port, host),), tls=tls or Tls())
    return seen(examined(Examination(probe=EndpointProbe(target, timeout), checks=REACH), timeout=timeout))


def test_a_name_that_does_not_resolve_is_named() -> None:
    found = looked(3306, host="database.invalid")

    assert found == [("fail", "dns", "the name database.invalid does not resolve")]


def test_a_closed_port_is_named() -> None:
    assert looked(free_port()) == [("fail", "tcp", "refuses connections: nothing listens there")]


def test_dropped_packets_are_named(full: int) -> None:
    assert looked(full, timeout=QUICK) == [("fail", "tcp", "does not answer: packets are dropped")]


def test_a_server_that_says_nothing_is_named() -> None:
    with listening(say_nothing) as port:
        target = MySqlTarget(name=NAME, hosts=(address(port),), admin=wrong("admin"))
        probe = MySqlProbe(target, target.hosts[0], QUICK)
        findings = examined(Examination(probe=probe, checks=WRITER), timeout=QUICK)

    [(status, check, what)] = seen(findings)
    assert (status, check) == ("fail", "mysql-login")
    assert "timed out" in what
    assert {finding.what for finding in findings if finding.status == "skipped"} == {
        "the settings want no TLS",
        "needs mysql-login, which failed",
    }


def test_a_good_certificate_is_no_fault(authority: Authority) -> None:
    with tls_server(authority.issue("good", HOST)) as port:
        assert looked(port, trusting(authority)) == []


def test_an_expired_certificate_is_named(authority: Authority) -> None:
    with tls_server(authority.issue("expired", HOST, expired=True)) as port:
        [(status, check, what)] = looked(port, trusting(authority))

    assert (status, check) == ("fail", "tls")
    assert what.startswith("the certificate expired on 20")


def test_an_expired_certificate_is_named_where_none_is_verified(authority: Authority) -> None:
    with tls_server(authority.issue("expired-too", HOST, expired=True)) as port:
        [(status, _, what)] = looked(port, Tls(mode="require"))

    assert status == "fail"
    assert what.startswith("the certificate expired on 20")


def test_a_certificate_that_expires_soon_is_a_warning(authority: Authority) -> None:
    with tls_server(authority.issue("soon", HOST, lifetime=timedelta(days=3, hours=1))) as port:
        [(status, check, what)] = looked(port, trusting(authority))

    assert (status, check) == ("warn", "tls")
    assert what.startswith("the certificate expires in 3 days, on 20")


def test_a_certificate_for_another_host_is_named(authority: Authority) -> None:
    with tls_server(authority.issue("elsewhere", "db.example.com", "10.0.0.1")) as port:
        found = looked(port, trusting(authority))

    assert found == [("fail", "tls", f"the certificate is for db.example.com, 10.0.0.1, not for {HOST}")]


def test_an_authority_that_is_not_trusted_is_named(authority: Authority, tmp_path: Path) -> None:
    other = Authority(tmp_path / "other", name="somebody-else")
    with tls_server(other.issue("foreign", HOST)) as port:
        [(status, check, what)] = looked(port, trusting(authority))

    assert (status, check) == ("fail", "tls")
    assert "an authority that is not trusted" in what
    assert what.endswith("it was issued by CN=somebody-else")


def test_a_server_that_wants_a_client_certificate_is_named(authority: Authority) -> None:
    with tls_server(authority.issue("picky", HOST), wants_client=True) as port:
        found = looked(port, trusting(authority))

    assert found == [("fail", "tls", "refuses this client: it wants a client certificate that it trusts")]


def test_a_server_that_speaks_no_tls_is_named(authority: Authority) -> None:
    with listening(lambda connection: connection.sendall(b"220 hello\r\n")) as port:
        [(status, check, what)] = looked(port, trusting(authority))

    assert (status, check) == ("fail", "tls")
    assert what.startswith(("answers, but not with TLS", "ends the connection when TLS begins"))
