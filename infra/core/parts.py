"""What a container is declared from: image, ports, probes, volumes and permissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Image:
    """A container image pinned by tag.

    Args:
        repository: registry and path, without a tag.
        tag: the tag; never `latest`.
        version: the version users know, where the tag is not it.
    """

    repository: str
    tag: str
    version: str

    @property
    def reference(self) -> str:
        """`repository:tag`, as a pod names it."""
        return f"{self.repository}:{self.tag}"


class Reach(Enum):
    """Who may open connections to a port; the NetworkPolicy follows from it."""

    POD = "pod"
    """Nobody but the node's own probes."""
    NAMESPACE = "namespace"
    """Pods of the same namespace."""
    CLUSTER = "cluster"
    """Pods of any namespace: metrics, mesh control plane."""
    ANYWHERE = "anywhere"
    """Also from outside the pod network: webhooks called by the API server, ingress."""


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port a container listens on.

    Args:
        name: IANA service name, at most 15 characters.
        number: the container's port.
        service_port: the port the Service offers it at; None leaves it out of the Service.
        reach: who may connect.
        metrics_path: where Prometheus finds metrics on it; None where it serves none.
    """

    name: str
    number: int
    service_port: int | None = None
    reach: Reach = Reach.NAMESPACE
    metrics_path: str | None = None


def metrics(number: int, *, path: str = "/metrics", service_port: int | None = None) -> Port:
    """Return the port Prometheus scrapes, reachable from the whole cluster."""
    return Port(name="http-metrics", number=number, service_port=service_port, reach=Reach.CLUSTER, metrics_path=path)


def webhook(number: int) -> Port:
    """Return an admission webhook's port, offered at 443 and reachable from the API server."""
    return Port(name="https-webhook", number=number, service_port=443, reach=Reach.ANYWHERE)


def health(number: int) -> Port:
    """Return the port of health probes, which no pod may open."""
    return Port(name="http-health", number=number, reach=Reach.POD)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """An HTTP probe.

    Args:
        path: the path that answers 200.
        port: the name of the container's port.
        delay_seconds: how long to wait before the first.
        period_seconds: how long between two.
        failures: how many in a row count as failed.
        scheme: HTTP or HTTPS.
    """

    path: str
    port: str
    delay_seconds: int = 0
    period_seconds: int = 10
    failures: int = 3
    scheme: Literal["HTTP", "HTTPS"] = "HTTP"


@dataclass(frozen=True, kw_only=True)
class Probes:
    """How the kubelet tells that a container is ready, alive and, where slow, started."""

    readiness: Probe
    liveness: Probe | None = None
    startup: Probe | None = None


@dataclass(frozen=True, kw_only=True)
class FromField:
    """An environment variable's value taken from the pod itself, such as `metadata.namespace`."""

    path: str


@dataclass(frozen=True, kw_only=True)
class FromResource:
    """An environment variable's value taken from the container's own resources, such as `limits.memory`."""

    resource: str


@dataclass(frozen=True, kw_only=True)
class FromSecret:
    """An environment variable's value taken from a key of a Secret in the pod's namespace."""

    secret: str
    key: str


@dataclass(frozen=True, kw_only=True)
class Volume:
    """A volume and where the container sees it; exactly one source is set.

    Args:
        name: the volume's name in the pod.
        path: where it is mounted.
        secret: name of the Secret it shows.
        config_map: name of the ConfigMap it shows.
        host_path: directory of the node it shows.
        memory: an empty directory in memory.
        token_audience: a ServiceAccount token for this audience, as the file `token_path`.
        token_path: file name of that token.
        optional: whether the pod starts without the Secret or ConfigMap.
        read_only: whether the container may not write to it.
        shared_mounts: whether what the container mounts below it appears on the node too; of a privileged one only.
    """

    name: str
    path: str
    secret: str | None = None
    config_map: str | None = None
    host_path: str | None = None
    memory: bool = False
    token_audience: str | None = None
    token_path: str = "token"  # noqa: S105 - a file name
    optional: bool = False
    read_only: bool = True
    shared_mounts: bool = False


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule of a Role or ClusterRole."""

    groups: tuple[str, ...]
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """What a workload's ServiceAccount may do: in the whole cluster, and in its own namespace."""

    cluster: Sequence[Rule] = ()
    namespace: Sequence[Rule] = ()

    def __bool__(self) -> bool:
        return bool(self.cluster or self.namespace)


EnvironmentValue = str | FromField | FromResource | FromSecret


@dataclass(frozen=True, kw_only=True)
class Privileges:
    """What a pod needs beyond the restricted profile, and why.

    Args:
        reason: why; kept on the object and shown to reviewers.
        privileged: the container runs privileged.
        capabilities: capabilities added after dropping all.
        run_as_root: the container runs as user 0.
        host_network: the pod uses the node's network.
    """

    reason: str
    privileged: bool = False
    capabilities: tuple[str, ...] = ()
    run_as_root: bool = False
    host_network: bool = False


@dataclass(frozen=True, kw_only=True)
class Container:
    """The one container of a workload's pods.

    Args:
        image: what runs.
        command: replaces the image's entry point when given.
        arguments: its arguments.
        environment: variables by name.
        ports: what it listens on.
        probes: how its health is told; None only with a reason on the workload.
        volumes: what it mounts.
        user: the numeric user it runs as; None leaves it to the image, which must not be root.
        writable_root: whether the root file system may be written; False mounts it read-only.
    """

    image: Image
    probes: Probes | None
    command: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, EnvironmentValue] = field(default_factory=dict[str, EnvironmentValue])
    ports: Sequence[Port] = ()
    volumes: Sequence[Volume] = ()
    user: int | None = None
    writable_root: bool = False
