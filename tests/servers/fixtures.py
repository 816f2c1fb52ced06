"""Fixtures with real servers; a `conftest.py` imports those it offers."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.servers.certificates import Authority
from tests.servers.kafka import Kafka
from tests.servers.mariadb import MariaDb
from tests.servers.minio import MinIo
from tests.servers.postgresql import PostgreSql
from tests.servers.process import HOST
from tests.servers.rabbitmq import RabbitMq
from tests.servers.registries import UnavailableError
from tests.servers.server import Server

__all__ = [
    "authority",
    "kafka",
    "mariadb",
    "minio",
    "module_servers",
    "postgresql",
    "rabbitmq",
    "servers",
    "servers_folder",
    "shared_servers",
]

HOSTS = ("localhost", HOST, "*.servers.test")
"""What the shared servers' certificates are good for; the last for names that process pods reach them by."""

S = TypeVar("S", bound=Server)


class Servers:
    """Makes servers that end together.

    Args:
        folder: takes a folder for each.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._numbers = itertools.count(1)

    def mariadb(self, **options: Any) -> MariaDb:
        """Start a MariaDB server; the options are `MariaDb`'s."""
        return self._start(MariaDb, options)

    def postgresql(self, **options: Any) -> PostgreSql:
        """Start a PostgreSQL server; the options are `PostgreSql`'s."""
        return self._start(PostgreSql, options)

    def standby(self, primary: PostgreSql) -> PostgreSql:
        """Start a hot standby of a PostgreSQL server."""
        return self._keep(primary.standby(self._next("standby")))

    def kafka(self, **options: Any) -> Kafka:
        """Start a Kafka cluster; the options are `Kafka`'s."""
        return self._start(Kafka, options)

    def rabbitmq(self, **options: Any) -> RabbitMq:
        """Start a RabbitMQ server; the options are `RabbitMq`'s."""
        return self._start(RabbitMq, options)

    def minio(self, **options: Any) -> MinIo:
        """Start a MinIO server; the options are `MinIo`'s."""
        return self._start(MinIo, options)

    def close(self) -> None:
        """End every server."""
        self._stack.close()

    def _start(self, kind: Callable[..., S], options: dict[str, Any]) -> S:
        try:
            server = kind(self._next(getattr(kind, "__name__", "server").lower()), **options)
        except UnavailableError as error:
            pytest.skip(f"no real server on this machine: {error}")
        self._keep(server)
        server.start()
        return server

    def _keep(self, server: S) -> S:
        self._stack.callback(server.stop)
        return server

    def _next(self, name: str) -> Path:
        return self._folder / f"{name}-{next(self._numbers)}"


def _made(folder: Path) -> Iterator[Servers]:
    made = Servers(folder)
    try:
        yield made
    finally:
        made.close()


def _own(servers_folder: Path) -> Iterator[Servers]:
    folder = Path(tempfile.mkdtemp(prefix="own-", dir=servers_folder))
    yield from _made(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def servers_folder() -> Iterator[Path]:
    """Yield a folder whose short path leaves room for the names of Unix sockets."""
    folder = Path(tempfile.mkdtemp(prefix="flotilla-servers-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def authority(servers_folder: Path) -> Authority:
    """Return a certificate authority that tests trust."""
    return Authority(servers_folder / "authority")


@pytest.fixture(scope="session")
def shared_servers(servers_folder: Path) -> Iterator[Servers]:
    """Yield the maker of the servers that the whole run shares."""
    yield from _made(servers_folder / "shared")


@pytest.fixture(scope="module")
def module_servers(servers_folder: Path) -> Iterator[Servers]:
    """Yield a maker of servers that only one module's tests use."""
    yield from _own(servers_folder)


@pytest.fixture
def servers(servers_folder: Path) -> Iterator[Servers]:
    """Yield a maker of servers that only one test uses."""
    yield from _own(servers_folder)


@pytest.fixture(scope="session")
def mariadb(shared_servers: Servers, authority: Authority) -> MariaDb:
    """Return a good MariaDB server that the whole run shares."""
    return shared_servers.mariadb(tls=authority.issue("mariadb", *HOSTS))


@pytest.fixture(scope="session")
def postgresql(shared_servers: Servers, authority: Authority) -> PostgreSql:
    """Return a good PostgreSQL server that the whole run shares."""
    return shared_servers.postgresql(tls=authority.issue("postgresql", *HOSTS))


@pytest.fixture(scope="session")
def kafka(shared_servers: Servers, authority: Authority) -> Kafka:
    """Return a good Kafka cluster of three brokers that the whole run shares."""
    names = [f"kafka-{number}.servers.test" for number in range(3)]
    return shared_servers.kafka(tls=authority.issue("kafka", *HOSTS), names=names)


@pytest.fixture(scope="session")
def rabbitmq(shared_servers: Servers, authority: Authority) -> RabbitMq:
    """Return a good RabbitMQ server that the whole run shares."""
    return shared_servers.rabbitmq(tls=authority.issue("rabbitmq", *HOSTS))


@pytest.fixture(scope="session")
def minio(shared_servers: Servers, authority: Authority) -> MinIo:
    """Return a good MinIO server that the whole run shares."""
    return shared_servers.minio(tls=authority.issue("minio", *HOSTS))
