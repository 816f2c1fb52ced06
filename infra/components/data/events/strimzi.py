"""Kafka run by Strimzi: controllers and brokers apart, spread over zones, every client known by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from infra import chart_sources, versions
from infra.components.data.events import flows
from infra.core import names
from infra.core.chart import Chart, ChartArgs
from infra.core.component import Component
from infra.core.placement import spread
from infra.node_labels import ZONE

if TYPE_CHECKING:
    from infra.settings.models.data.events import KafkaNodes, Strimzi

API = "kafka.strimzi.io/v1"
CLUSTER = "events"
"""Name of the cluster, and so of its Services and Secrets."""

PORT = 9093
SERVERS = f"{CLUSTER}-kafka-bootstrap"
"""Name of the Service that clients start from."""

CA_SECRET = f"{CLUSTER}-cluster-ca-cert"
"""Secret that Strimzi keeps the authority's certificate in, as `ca.crt`."""

MECHANISM = "SCRAM-SHA-512"
PART_OF = "data"


@dataclass(frozen=True, kw_only=True)
class KafkaClusterArgs:
    """What a Kafka cluster is declared from.

    Args:
        settings: members, topics, and who brings the operator.
        namespace: where the cluster lives, and the operator that Flotilla installs.
        block_class: StorageClass of members that name none.
        teams: names of the teams.
    """

    settings: Strimzi
    namespace: pulumi.Input[str]
    block_class: str
    teams: Sequence[str]


class KafkaCluster(Component):
    """Owns the operator's release where it installs it, the cluster, its topics and its users.

    Users' passwords are made by the operator, in a Secret of the user's name beside the cluster. Owns no message: a
    topic that leaves the settings stays in the cluster, with all that is in it, until somebody deletes it.

    Attributes:
        ready: what clients must wait for.

    Source: https://github.com/strimzi/strimzi-kafka-operator, tag 1.2.0, `packaging/examples` and `packaging/install`.
    """

    group = "data"

    def __init__(self, name: str, args: KafkaClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._namespace = args.namespace
        settings = args.settings
        self._after: list[pulumi.Resource] = []
        if settings.installed == "install":
            chart = Chart(
                "strimzi",
                ChartArgs(
                    source=chart_sources.STRIMZI, namespace=args.namespace, part_of=PART_OF, values=OPERATOR_VALUES
                ),
                opts=self.child(),
            )
            self._after = chart.ready
        pools = [
            self._object("KafkaNodePool", f"{CLUSTER}-{role}s", _pool(nodes, role, args.block_class), labelled=True)
            for role, nodes in (("controller", settings.controllers), ("broker", settings.brokers))
        ]
        cluster = self._object("Kafka", CLUSTER, _cluster(settings.brokers), after=pools)
        topics = [
            self._object(
                "KafkaTopic",
                topic.name,
                {"partitions": topic.keeping.partitions, "replicas": topic.keeping.replication, "config": topic.config},
                labelled=True,
                after=[cluster],
                retain=True,
            )
            for topic in flows.topics(settings.topics, args.teams)
        ]
        users = [
            self._object("KafkaUser", user, _user(grants), labelled=True, after=[cluster])
            for user, grants in _by_user(flows.grants(settings.topics, args.teams)).items()
        ]
        if settings.pod_monitor:
            self._monitor()
        self.ready: list[pulumi.Resource] = [cluster, *topics, *users]
        self.register_outputs({})

    def _object(
        self,
        kind: str,
        name: str,
        spec: Mapping[str, object],
        *,
        labelled: bool = False,
        after: Sequence[pulumi.Resource] = (),
        retain: bool = False,
    ) -> CustomResource:
        """Return a custom resource; `labelled` ties it to the cluster, `retain` keeps it once it is not declared."""
        options = pulumi.ResourceOptions(parent=self, depends_on=[*self._after, *after], retain_on_delete=retain)
        labels = names.labels(name, part_of=PART_OF) | ({"strimzi.io/cluster": CLUSTER} if labelled else {})
        return CustomResource(
            f"{CLUSTER}-{kind.lower()}-{name}",
            api_version=API,
            kind=kind,
            metadata=ObjectMetaArgs(name=name, namespace=self._namespace, labels=labels),
            spec=spec,
            opts=options,
        )

    def _monitor(self) -> None:
        CustomResource(
            f"{CLUSTER}-podmonitor",
            api_version="monitoring.coreos.com/v1",
            kind="PodMonitor",
            metadata=ObjectMetaArgs(
                name=f"{CLUSTER}-kafka", namespace=self._namespace, labels=names.labels(CLUSTER, part_of=PART_OF)
            ),
            spec={
                "selector": {"matchLabels": {"strimzi.io/cluster": CLUSTER, "strimzi.io/kind": "Kafka"}},
                "podMetricsEndpoints": [{"path": "/metrics", "port": "tcp-prometheus"}],
            },
            opts=self.child(),
        )


def _pool(nodes: KafkaNodes, role: str, block_class: str) -> dict[str, object]:
    volume = {
        "id": 0,
        "type": "persistent-claim",
        "size": str(nodes.storage.size),
        "class": nodes.storage.storage_class or block_class,
        "deleteClaim": False,
        "kraftMetadata": "shared",
    }
    return {
        "replicas": nodes.replicas,
        "roles": [role],
        "resources": nodes.resources.as_manifest(),
        "storage": {"type": "jbod", "volumes": [volume]},
        "template": {
            "pod": {
                "priorityClassName": names.PLATFORM_PRIORITY,
                "topologySpreadConstraints": spread(
                    {"strimzi.io/cluster": CLUSTER, "strimzi.io/pool-name": f"{CLUSTER}-{role}s"}
                ),
            }
        },
    }


def _cluster(brokers: KafkaNodes) -> dict[str, object]:
    """Let no topic be made by accident, none with fewer copies than survive a zone, and nobody in without a name."""
    copies = min(3, brokers.replicas)
    return {
        "kafka": {
            "version": versions.KAFKA,
            "metadataVersion": versions.KAFKA_METADATA,
            "rack": {"topologyKey": ZONE},
            "authorization": {"type": "simple"},
            "listeners": [
                {
                    "name": "tls",
                    "port": PORT,
                    "type": "internal",
                    "tls": True,
                    "authentication": {"type": MECHANISM.lower()},
                }
            ],
            "config": {
                "auto.create.topics.enable": False,
                "default.replication.factor": copies,
                "min.insync.replicas": copies - 1,
                "offsets.topic.replication.factor": copies,
                "share.coordinator.state.topic.replication.factor": copies,
                "share.coordinator.state.topic.min.isr": copies - 1,
                "transaction.state.log.replication.factor": copies,
                "transaction.state.log.min.isr": copies - 1,
                "unclean.leader.election.enable": False,
            },
            "metricsConfig": {"type": "strimziMetricsReporter"},
        },
        "entityOperator": {
            "topicOperator": {"resources": ENTITY_RESOURCES},
            "userOperator": {"resources": ENTITY_RESOURCES},
            "template": {"pod": {"priorityClassName": names.PLATFORM_PRIORITY}},
        },
    }


def _user(grants: Sequence[flows.Grant]) -> dict[str, object]:
    return {
        "authentication": {"type": MECHANISM.lower()},
        "authorization": {
            "type": "simple",
            "acls": [
                {
                    "resource": {"type": grant.resource, "name": grant.name, "patternType": grant.pattern},
                    "operations": list(grant.operations),
                }
                for grant in grants
            ],
        },
    }


def _by_user(grants: Iterable[flows.Grant]) -> dict[str, list[flows.Grant]]:
    users: dict[str, list[flows.Grant]] = {}
    for grant in grants:
        users.setdefault(grant.user, []).append(grant)
    return users


ENTITY_RESOURCES = {"requests": {"cpu": "100m", "memory": "384Mi"}, "limits": {"memory": "512Mi"}}

OPERATOR_VALUES: dict[str, object] = {
    "replicas": 2,
    "leaderElection": {"enable": True},
    "podDisruptionBudget": {"enabled": True, "minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"},
    "priorityClassName": names.PLATFORM_PRIORITY,
    "topologySpreadConstraints": spread({"strimzi.io/kind": "cluster-operator"}),
    "extraEnvs": [{"name": "STRIMZI_POD_SECURITY_PROVIDER_CLASS", "value": "restricted"}],
}
"""Two replicas, one of which leads; what they make keeps to restricted pod security, as the namespace demands."""
