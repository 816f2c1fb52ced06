"""What a database server is to those who prepare and use it, whoever runs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pulumi

    from infra.settings.models.data.common import Tls
    from infra.settings.models.data.databases import Engine, Pool


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """A user's name and password in a Secret of the namespace that mounts it.

    Args:
        secret: name of the Secret.
        password_key: key of the password.
        username_key: key of the user's name; None where `username` says it.
        username: the user's name, where no key holds it.
    """

    secret: str
    password_key: str
    username_key: str | None = None
    username: str | None = None


@dataclass(frozen=True, kw_only=True)
class Server:
    """A database server.

    Args:
        name: its name in the settings.
        engine: what it speaks.
        hosts: host names, the one that takes writes first.
        port: TCP port.
        tls: how connections are protected.
        pool: bounds on each consumer's connections.
        admin: the administrator that prepares it, in the namespace of databases; None where nothing is to be prepared.
        starting_seconds: how long it may take until it first takes writes.
        ready: what has to exist before somebody waits for it.
    """

    name: str
    engine: Engine
    hosts: Sequence[str]
    port: int
    tls: Tls
    pool: Pool
    admin: Credentials | None
    starting_seconds: int
    ready: Sequence[pulumi.Resource] = field(default=())

    @property
    def host(self) -> str:
        """The host that takes writes."""
        return self.hosts[0]


@dataclass(frozen=True, kw_only=True)
class User:
    """A consumer's user, to be made on its server.

    Args:
        consumer: the consumer's key in the settings.
        server: name of the server.
        schema: database on the server that the user may use.
        credentials: its name and password, in the namespace of databases.
        plugin: MySQL's authentication plugin; None for the server's own choice.
        keyless: whether the consumer makes tables without a primary key.
        ready: what has to exist before the Secret can be mounted.
    """

    consumer: str
    server: str
    schema: str
    credentials: Credentials
    plugin: str | None = None
    keyless: bool = False
    ready: Sequence[pulumi.Resource] = field(default=())
