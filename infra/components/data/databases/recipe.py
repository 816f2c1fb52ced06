"""What a database cluster is made from, and what its operator's recipe says: plain data, before any resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from infra.core import names
from infra.node_labels import ZONE

if TYPE_CHECKING:
    from infra.core.chart_source import ChartSource
    from infra.core.database import Credentials
    from infra.settings.models.data.common import Tls
    from infra.settings.models.data.databases import OperatedDatabase

Manifest: TypeAlias = dict[str, Any]

RESERVED_CONNECTIONS = 50
"""Connections beyond the consumers': replication, backups, metrics, the operator and administrators."""


@dataclass(frozen=True, kw_only=True)
class BackupStore:
    """A bucket of an S3 endpoint, as databases keep their backups in it.

    Args:
        bucket: name of the bucket.
        region: its region; None where the endpoint has none.
        endpoint: URL of the endpoint; None for AWS itself.
        secret: Secret of the databases' namespace with the access key; None where pods have a role instead.
        access_key: key of the access key's id in the Secret.
        secret_key: key of the secret access key in the Secret.
        role: annotations that bind a ServiceAccount to its role; empty where `secret` is set.
    """

    bucket: str
    region: str | None = None
    endpoint: str | None = None
    secret: str | None = None
    access_key: str = "AWS_ACCESS_KEY_ID"
    secret_key: str = "AWS_SECRET_ACCESS_KEY"  # noqa: S105 - the name of a key
    role: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class ClusterArgs:
    """What a cluster is made from.

    Args:
        name: its name in the settings.
        settings: operator, size and backups.
        namespace: where it runs.
        storage_class: StorageClass of the instances' volumes.
        store: where its backups go; None where it makes none.
        consumers: how many consumers use it.
        keyless: whether one of them makes tables without a primary key.
        native: whether one of them knows no other plugin than mysql_native_password.
    """

    name: str
    settings: OperatedDatabase
    namespace: str
    storage_class: str
    store: BackupStore | None
    consumers: int
    keyless: bool
    native: bool

    @property
    def connections(self) -> int:
        """Connections that the server has to take."""
        return self.settings.pool.max_open * self.consumers + RESERVED_CONNECTIONS

    @property
    def prefix(self) -> str:
        """Where its backups lie in the bucket."""
        return f"databases/{self.name}"


@dataclass(frozen=True, kw_only=True)
class Custom:
    """A custom resource: its API version, kind and spec."""

    api: str
    kind: str
    spec: Manifest


@dataclass(frozen=True, kw_only=True)
class Operator:
    """An operator as its maker ships it.

    Args:
        namespace: where it is installed.
        charts: its charts with their values, in order.
        webhooks: ports the API server calls it at.
    """

    namespace: str
    charts: Mapping[ChartSource, Manifest]
    webhooks: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What an operator needs to run a cluster, and how the cluster is reached.

    Args:
        objects: its custom resources, in order.
        config: contents of the ConfigMap of its name; none where empty.
        account: whether its backups run as a ServiceAccount of its name.
        host: host name that always leads to the instance that takes writes.
        admin: the user that prepares it.
        tls: how clients connect.
        instances: labels of its pods.
        clients: the port that clients use.
        watched: ports that the operator and Prometheus use.
        metrics: ports with metrics, as a PodMonitor lists them.
    """

    objects: Sequence[Custom]
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    account: bool = False
    host: str
    admin: Credentials
    tls: Tls
    instances: Mapping[str, str]
    clients: int
    watched: Sequence[int]
    metrics: Sequence[Manifest]


def spread(instances: Mapping[str, str], key: str = ZONE) -> Manifest:
    """Return the constraint that spreads instances evenly, counting only nodes that can be used."""
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "nodeTaintsPolicy": "Honor",
        "labelSelector": {"matchLabels": dict(instances)},
    }


def prefer_system_nodes() -> Manifest:
    """Return the node affinity that keeps instances off the nodes that come and go with teams' jobs."""
    system = {"key": names.NODE_PURPOSE, "operator": "In", "values": ["system"]}
    return {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 100, "preference": {"matchExpressions": [system]}}
        ]
    }


def without_nothing(**entries: Any) -> Manifest:
    """Return the entries that have a value."""
    return {key: value for key, value in entries.items() if value is not None}
