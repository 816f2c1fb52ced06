"""Databases, and which of them each component of Kubeflow keeps its state in."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema

from infra.settings.models.base import Section
from infra.settings.models.data.common import Installed, Port, SecretRef, Tls
from infra.settings.models.resources import Resources
from infra.settings.problems import invalid
from infra.settings.scalars import DnsName, Memory, NotEmpty, Noun, Positive, Text

Engine: TypeAlias = Literal["mysql", "postgresql"]
Operator: TypeAlias = Literal["cloudnative-pg", "moco", "percona-xtradb"]
ENGINES: dict[Operator, Engine] = {"cloudnative-pg": "postgresql", "moco": "mysql", "percona-xtradb": "mysql"}
PORTS: dict[Engine, int] = {"mysql": 3306, "postgresql": 5432}
LEAST_INSTANCES = 3

DATA_NAMESPACE = "flotilla-data"
"""Namespace of database clusters and of the Jobs that prepare databases; no component of Kubeflow runs here, so
none can read the administrators' Secrets."""

CONSUMERS_NAMESPACE = "kubeflow"
"""Namespace of the components that use databases."""


def _quorum(value: int) -> int:
    if value < LEAST_INSTANCES or value % 2 == 0:
        lacking = (
            "an even number loses a tie" if value >= LEAST_INSTANCES else "fewer have no majority left after a loss"
        )
        raise invalid(f"{value} instances are not highly available: {lacking}", f"Write {max(3, value + 1)}")
    return value


QuorumSize = Annotated[
    int,
    AfterValidator(_quorum),
    WithJsonSchema({"type": "integer", "minimum": LEAST_INSTANCES, "not": {"multipleOf": 2}}),
    Noun("odd number ≥ 3"),
]
"""Number of members that keep a majority when one is lost."""

DatabaseName = Annotated[
    str, Text(r"[a-z]([-a-z0-9]*[a-z0-9])?", 22, "database name", "Write lower-case letters, digits and '-'")
]
"""Name of a database server; its operator makes longer names of it, so at most 22 characters."""

SchemaName = Annotated[
    str, Text(r"[a-z][a-z0-9_]*", 63, "schema name", "Write lower-case letters, digits and '_', starting with a letter")
]
"""Name of a database on its server, as `CREATE DATABASE` takes it without quotes."""

CronSchedule = Annotated[
    str,
    Text(
        r"[-0-9*/,]+( [-0-9*/,]+){4}",
        100,
        "schedule",
        'Write minute, hour, day, month and weekday, such as "0 2 * * *"',
    ),
]
"""Time to run at, in UTC, as cron has it."""


class Pool(Section):
    """Bounds on the connections of each consumer."""

    max_open: Positive = 50
    """Connections that one consumer may hold, all its replicas together; the server refuses it more, so that one
    consumer cannot starve the others."""

    max_lifetime_seconds: Positive = 120
    """How long a pooled connection is used, in seconds; bounds how long clients stay with a writer that was demoted."""


class ExternalDatabase(Section):
    """A database that somebody else runs: a cloud's, or your own outside the platform."""

    kind: Literal["external"]
    """A server that exists already; it is prepared, never created."""

    engine: Engine
    """What it speaks."""

    hosts: Annotated[tuple[DnsName, ...], NotEmpty()]
    """Hosts, the writer's endpoint first: components use it alone. The others are standbys that a bootstrap tries when
    the first does not take writes."""

    port: Port | None = None
    """TCP port; 3306 for MySQL and 5432 for PostgreSQL when left out."""

    tls: Tls
    """How connections are protected."""

    admin: SecretRef | None = None
    """Administrator that the bootstrap Job creates databases and users as, by a Secret in the namespace
    `flotilla-data`. Null where a database administrator has created them already: then no Job runs."""

    pool: Pool = Pool()
    """Bounds on each consumer's connections."""

    @property
    def writer(self) -> str:
        """Host that takes writes."""
        return self.hosts[0]

    @property
    def listens_at(self) -> int:
        """TCP port, the engine's own unless another is set."""
        return self.port or PORTS[self.engine]


class DatabaseStorage(Section):
    """The volume of each instance."""

    size: Memory
    """Size of each instance's volume, in bytes."""

    storage_class: DnsName | None = None
    """StorageClass of the volumes; the cluster's default when left out. Block storage, as databases lock files."""


class DatabaseBackup(Section):
    """Backups to the object store's bucket for backups."""

    schedule: CronSchedule
    """When a backup is made, in UTC."""

    retention_days: Positive
    """How long backups are kept, in days."""


class OperatedDatabase(Section):
    """A replicated database that an operator runs on this platform."""

    kind: Literal["operator"]
    """A cluster of instances in the platform's own Kubernetes cluster."""

    operator: Operator
    """`cloudnative-pg` runs PostgreSQL; `moco` and `percona-xtradb` run MySQL. Metadata wants `moco` of the two:
    its replication needs no primary keys."""

    installed: Installed = "install"
    """Whether Flotilla installs the operator's chart, or the platform brings the operator."""

    instances: QuorumSize = 3
    """Instances, spread over zones: one takes writes, the others follow it."""

    storage: DatabaseStorage
    """The volume of each instance."""

    resources: Resources
    """Of each instance."""

    backup: DatabaseBackup | None
    """Backups to the object store; null makes none, and losing the volumes then loses everything."""

    pod_monitor: bool = True
    """Whether to declare a PodMonitor; turn it off where Prometheus' operator is not installed."""

    pool: Pool = Pool()
    """Bounds on each consumer's connections."""

    @property
    def engine(self) -> Engine:
        """What it speaks."""
        return ENGINES[self.operator]

    @property
    def listens_at(self) -> int:
        """TCP port, the engine's own."""
        return PORTS[self.engine]


Database = Annotated[ExternalDatabase | OperatedDatabase, Field(discriminator="kind")]
"""A database server, whoever runs it."""


class Consumer(Section):
    """Where a component keeps its state."""

    database: DatabaseName
    """Name of one of `data.databases`."""

    schema_name: SchemaName
    """Database on that server; the component's user may use no other."""

    credentials: SecretRef | None = None
    """The component's user, by a Secret in the namespace `kubeflow` with a copy in `flotilla-data`, which the bootstrap
    Job reads. Null by default: Flotilla generates the user's password and keeps it."""


class Consumers(Section):
    """Components of Kubeflow that keep state in a database."""

    pipelines: Consumer
    """Pipelines' API server. MySQL only: the current release speaks MySQL's dialect to every server."""

    cache: Consumer
    """Pipelines' cache of finished steps. MySQL only, on the database that metadata uses."""

    metadata: Consumer
    """ML Metadata. Its client knows only `mysql_native_password`, so MySQL 8.4 at most, and one of its tables has no
    primary key, so no replication that wants one."""

    katib: Consumer
    """Katib's database manager. Its MySQL client speaks no TLS, its PostgreSQL client does."""

    model_registry: Consumer
    """The model registry."""

    model_catalog: Consumer
    """The model catalog. PostgreSQL only."""
