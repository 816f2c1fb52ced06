"""Events: the broker that Kubernetes events, inference logs and teams' own messages flow through."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.data.common import HostPort, Installed, Port, SecretRef, Tls
from infra.settings.models.data.databases import QuorumSize
from infra.settings.models.resources import Resources
from infra.settings.scalars import DnsName, HaReplicas, Memory, NotEmpty, Positive, Text, Word

SaslMechanism: TypeAlias = Literal["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"]

TopicPrefix = Annotated[
    str, Text(r"[a-z0-9]([-a-z0-9.]*[-.])?", 60, "prefix", "Write lower-case letters, digits, '-' and '.', such as ml.")
]
"""What the names of topics start with, on a broker that others use too."""

Principal = Annotated[
    str, Text(r"[A-Za-z]+:[^{}]*\{name\}[^{}]*", 200, "principal", "Write one with {name} in it, such as User:{name}")
]
"""How a broker names a user in its permissions, with `{name}` in place of the user."""


def _resources(cpu: str, memory: str, limit: str) -> Resources:
    return Resources.model_validate({"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": limit}})


class Exporter(Section):
    """The exporter of Kubernetes events: every event of the cluster, the training jobs' among them."""

    replicas: HaReplicas = 2
    """Replicas, of which one exports; at least 2, so that another takes over within seconds."""

    resources: Resources = Field(default=_resources("100m", "128Mi", "512Mi"))
    """Of each replica; memory grows with the events of an hour, which a new leader sends once more."""


class Topic(Section):
    """How a topic of Kafka is kept."""

    partitions: Positive = 6
    """Partitions: consumers of one group that can share the work. Can be raised later, never lowered."""

    replication: Positive = 3
    """Brokers that keep a copy."""

    min_in_sync: Positive = 2
    """Copies that must be written before a message is acknowledged. Below `replication`, so that one broker can be
    lost, and above 1, so that no acknowledged message is lost with it."""

    retention_hours: Positive = 168
    """How long messages are kept, in hours."""


class Topics(Section):
    """The topics the platform uses."""

    prefix: TopicPrefix = "flotilla."
    """What their names start with."""

    kubernetes: Topic = Topic()
    """Events of the cluster, in `<prefix>kubernetes-events`."""

    training: Topic = Topic()
    """Events of training jobs, in `<prefix>training-events`."""

    inference_logs: Topic = Topic()
    """Requests and responses of inference services, in `<prefix>inference-logs`."""

    teams: Topic = Topic()
    """A topic for each team, `<prefix>team.<team>.events`. The team may use whatever starts with its prefix."""


class Queue(Section):
    """How a quorum queue of RabbitMQ is kept."""

    retention_hours: Positive = 168
    """How long a message waits for a consumer before it is dropped, in hours."""


class Queues(Section):
    """The quorum queues the platform uses."""

    kubernetes: Queue = Queue()
    """Events of the cluster, in `kubernetes-events`."""

    training: Queue = Queue()
    """Events of training jobs, in `training-events`."""

    inference_logs: Queue = Queue()
    """Requests and responses of inference services, in `inference-logs`."""

    teams: Queue = Queue()
    """A queue `events` for each team, in a virtual host of its own."""


class NoEvents(Section):
    """No broker: events stay in the cluster for an hour, and inference logs are not kept."""

    kind: Literal["none"]
    """No events leave the cluster."""


class Sasl(Section):
    """How clients of Kafka say who they are by password."""

    mechanism: SaslMechanism
    """How the password is proven. `PLAIN` sends it as it is, so only under TLS."""

    credentials: SecretRef
    """The exporter's user, by a Secret in the namespace `flotilla-data`."""


class KafkaAdmin(Section):
    """Who creates topics and permissions: by password, by certificate, or both, as the broker wants it."""

    credentials: SecretRef | None = None
    """The administrator's user, by a Secret in the namespace `flotilla-data`; proven as `sasl` says."""

    client_certificate: DnsName | None = None
    """Secret in the namespace `flotilla-data` with `tls.crt` and `tls.key` of the administrator."""


class Kafka(Section):
    """A Kafka cluster that somebody else runs: a cloud's, or your own outside the platform."""

    kind: Literal["kafka"]
    """A cluster that exists already; topics and permissions in it are created, brokers never."""

    bootstrap_servers: Annotated[tuple[HostPort, ...], NotEmpty()]
    """Brokers that clients ask for all others; two or more, so that a client can start while one is down."""

    tls: Tls
    """How connections are protected; `clientCertificate` is the exporter's."""

    sasl: Sasl | None = None
    """How clients say who they are by password; null where they do so by certificate alone."""

    admin: KafkaAdmin | None = None
    """Who creates topics and permissions. Null where an administrator has created them already: then no Job runs."""

    principal: Principal = "User:{name}"
    """How the broker names a user in its permissions: `User:CN={name}` where clients come by certificate."""

    topics: Topics = Topics()
    """The topics the platform uses."""

    exporter: Exporter | None = Exporter()
    """The exporter of Kubernetes events; null runs none."""


class Disk(Section):
    """The volume of each member of a cluster."""

    size: Memory
    """Size of each volume, in bytes."""

    storage_class: DnsName | None = None
    """StorageClass of the volumes; the one of `cluster.storage.defaults.block` when left out."""


class KafkaNodes(Section):
    """Members of a Kafka cluster with the same role."""

    replicas: QuorumSize = 3
    """Members, spread over zones; odd, and three or more, so that a majority is left when a zone is lost."""

    storage: Disk
    """The volume of each member. Block storage: Kafka keeps what it has acknowledged only as safe as its disks."""

    resources: Resources
    """Of each member."""


class Strimzi(Section):
    """Kafka run by Strimzi on this platform: controllers and brokers apart, spread over zones."""

    kind: Literal["strimzi"]
    """A cluster of Kafka in KRaft mode in the platform's own Kubernetes cluster."""

    installed: Installed = "install"
    """Whether Flotilla installs Strimzi's chart, or the platform brings the operator."""

    controllers: KafkaNodes
    """Members that keep the cluster's metadata."""

    brokers: KafkaNodes
    """Members that keep the messages."""

    pod_monitor: bool = True
    """Whether to declare a PodMonitor; turn it off where Prometheus' operator is not installed."""

    topics: Topics = Topics()
    """The topics the platform uses."""

    exporter: Exporter | None = Exporter()
    """The exporter of Kubernetes events; null runs none."""


class RabbitMq(Section):
    """RabbitMQ that somebody else runs."""

    kind: Literal["rabbitmq"]
    """A cluster that exists already; virtual hosts, queues and permissions in it are created, nodes never."""

    host: DnsName
    """Host name that leads to every node, of a load balancer or of several addresses."""

    port: Port = 5671
    """TCP port of AMQP; 5671 with TLS by custom, 5672 without."""

    management_port: Port = 15671
    """TCP port of the management interface, by which queues and permissions are created."""

    tls: Tls
    """How connections to both ports are protected; `clientCertificate` is the exporter's."""

    credentials: SecretRef
    """The exporter's user, by a Secret in the namespace `flotilla-data`."""

    admin: SecretRef | None = None
    """User with the tag `administrator`, by a Secret in the namespace `flotilla-data`. Null where queues and
    permissions exist already: then no Job runs."""

    vhost: Word = "flotilla"
    """Virtual host of the platform's queues; those of teams are called `<vhost>.<team>`."""

    queues: Queues = Queues()
    """The quorum queues the platform uses."""

    exporter: Exporter | None = Exporter()
    """The exporter of Kubernetes events; null runs none."""


class RabbitMqOperator(Section):
    """RabbitMQ run by its cluster operator on this platform. The platform brings the operator: it has no chart."""

    kind: Literal["rabbitmq-operator"]
    """A cluster of RabbitMQ in the platform's own Kubernetes cluster."""

    replicas: QuorumSize = 3
    """Nodes, spread over zones; odd, so that a quorum queue keeps its majority when a zone is lost."""

    storage: Disk
    """The volume of each node."""

    resources: Resources
    """Of each node."""

    tls_secret: DnsName | None
    """Secret in the namespace `flotilla-data` with `tls.crt`, `tls.key` and the authority's `ca.crt`, for the names of
    the Service `events`; null leaves what flows inside the cluster in the clear."""

    credentials: SecretRef
    """The exporter's user, by a Secret in the namespace `flotilla-data`."""

    vhost: Word = "flotilla"
    """Virtual host of the platform's queues; those of teams are called `<vhost>.<team>`."""

    queues: Queues = Queues()
    """The quorum queues the platform uses."""

    exporter: Exporter | None = Exporter()
    """The exporter of Kubernetes events; null runs none."""


Events = Annotated[NoEvents | Kafka | Strimzi | RabbitMq | RabbitMqOperator, Field(discriminator="kind")]
"""The broker of events, whoever runs it."""
