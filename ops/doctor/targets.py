"""What the doctor examines, as plain data: where a server is, how to log in, and what the platform expects of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ops.doctor.secret import Secret

TlsMode: TypeAlias = Literal["disable", "require", "verify-ca", "verify-full"]
"""How a connection is protected; the words are PostgreSQL's."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a server listens.

    Args:
        host: name or address.
        port: TCP port.
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class Tls:
    """How connections are protected, certificates included.

    Args:
        mode: `require` encrypts and trusts whoever answers, `verify-ca` wants a certificate of the authority,
            `verify-full` wants the host's name in it too.
        ca: certificates of the authorities, in PEM; None trusts those of this machine.
        certificate: the client's own certificate, in PEM, where servers ask for one.
        key: the client's private key, in PEM.
    """

    mode: TlsMode = "disable"
    ca: str | None = None
    certificate: str | None = None
    key: Secret | None = None

    @property
    def enabled(self) -> bool:
        """Whether anything is encrypted at all."""
        return self.mode != "disable"


@dataclass(frozen=True, kw_only=True)
class Login:
    """A user and how it proves to be one.

    Args:
        user: name of the user.
        password: its password.
        source: where both were read, as people look it up: "Secret kubeflow/mysql-admin".
    """

    user: str
    password: Secret
    source: str


@dataclass(frozen=True, kw_only=True)
class Consumer:
    """A component that keeps its data in a database.

    Args:
        name: the component, as the settings call it: `pipelines`.
        database: name of its database or schema.
        login: its own user; None while nobody made one.
        old_client: whether its client knows neither caching_sha2_password nor tables' primary-key rules, as ML
            Metadata's does not.
    """

    name: str
    database: str
    login: Login | None = None
    old_client: bool = False


@dataclass(frozen=True, kw_only=True)
class DatabaseTarget:
    """A MySQL or PostgreSQL server, or several that replicate each other.

    Args:
        name: where the settings declare it: `data.databases.main`.
        hosts: where it listens; the first takes writes, the others are its replicas.
        tls: how connections are protected.
        admin: who creates databases and users; None where somebody has created them already.
        consumers: who keeps data in it.
        connections: how many connections all consumers open together at most.
    """

    name: str
    hosts: tuple[Address, ...]
    tls: Tls = Tls()
    admin: Login | None = None
    consumers: tuple[Consumer, ...] = ()
    connections: int = 0

    @property
    def old_clients(self) -> tuple[str, ...]:
        """Names of the consumers with an old client."""
        return tuple(consumer.name for consumer in self.consumers if consumer.old_client)


class MySqlTarget(DatabaseTarget):
    """A MySQL or MariaDB server."""


class PostgresTarget(DatabaseTarget):
    """A PostgreSQL server."""


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A Kafka topic as declared.

    Args:
        name: its name.
        partitions: how many at least.
        replication: brokers that keep each record.
        min_insync_replicas: brokers that must have a record before it counts as written.
        retention_ms: how long records are kept, in milliseconds; None takes what is there.
        principals: who writes and reads it, such as `User:event-exporter`.
    """

    name: str
    partitions: int = 1
    replication: int = 3
    min_insync_replicas: int = 2
    retention_ms: int | None = None
    principals: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class KafkaTarget:
    """A Kafka cluster.

    Args:
        name: where the settings declare it: `data.events`.
        bootstrap: brokers that tell where all the others are.
        tls: how connections are protected.
        mechanism: how the user proves to be one; None where it does so by certificate, or not at all.
        login: who is asked for everything: who creates topics and permissions, else who writes events; None where
            certificates alone identify clients.
        administers: whether that user creates topics and permissions, as Flotilla's Job does.
        writers: users besides, who write events.
        topics: what is declared.
        replication: brokers that keep each record where a topic does not say; bounds how many brokers there are.
        acls: whether permissions are declared, so that an authorizer must be there.
    """

    name: str
    bootstrap: tuple[Address, ...]
    tls: Tls = Tls()
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = None
    login: Login | None = None
    administers: bool = True
    writers: tuple[Login, ...] = ()
    topics: tuple[Topic, ...] = ()
    replication: int = 3
    acls: bool = False


@dataclass(frozen=True, kw_only=True)
class RabbitMqTarget:
    """A RabbitMQ cluster.

    Args:
        name: where the settings declare it: `data.events`.
        hosts: where its nodes speak AMQP.
        management: where its management API answers.
        vhost: virtual host that events go to.
        login: who publishes events.
        admin: who makes virtual hosts, users and queues; None where somebody has made them already.
        tls: how connections are protected, both AMQP and the API.
        queues: virtual host and name of each quorum queue that is declared.
        nodes: how many nodes there should be.
    """

    name: str
    hosts: tuple[Address, ...]
    management: Address
    vhost: str
    login: Login
    admin: Login | None = None
    tls: Tls = Tls()
    queues: tuple[tuple[str, str], ...] = ()
    nodes: int = 3


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """A bucket as declared.

    Args:
        name: its name.
        purpose: what it keeps: `pipelines`.
        lifecycle_days: after how many days objects are deleted; None keeps them.
        versioned: whether overwritten and deleted objects should be recoverable.
        made: whether Flotilla's bucket Job makes it, and sets its lifecycle.
    """

    name: str
    purpose: str
    lifecycle_days: int | None = None
    versioned: bool = False
    made: bool = False


@dataclass(frozen=True, kw_only=True)
class ObjectStoreTarget:
    """An S3-compatible object store.

    Args:
        name: where the settings declare it: `data.objectStore`.
        endpoint: where it answers.
        tls: how connections are protected.
        region: region of the buckets; None where the store knows none.
        login: access key and secret key; None takes those of this machine's AWS configuration.
        buckets: what is declared.
    """

    name: str
    endpoint: Address
    tls: Tls
    buckets: tuple[Bucket, ...]
    region: str | None = None
    login: Login | None = None


@dataclass(frozen=True, kw_only=True)
class EndpointTarget:
    """A server that the doctor does not speak the language of: only the way to it is checked.

    Args:
        name: where the settings declare it.
        addresses: where it listens.
        tls: how connections are protected.
    """

    name: str
    addresses: tuple[Address, ...]
    tls: Tls = Tls()
