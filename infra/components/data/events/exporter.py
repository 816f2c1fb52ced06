"""The exporter of Kubernetes events: an OpenTelemetry Collector that watches them and writes them to the broker."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s
import yaml

from infra import versions
from infra.components.data.events import flows
from infra.core import names
from infra.core.availability import LeaderElected
from infra.core.component import Component
from infra.core.parts import (
    Container,
    FromField,
    Permissions,
    Port,
    Probe,
    Probes,
    Rule,
    Volume,
    health,
    metrics,
)
from infra.core.workload import Workload, WorkloadArgs

if TYPE_CHECKING:
    from infra.components.data.events.brokers import Broker
    from infra.settings.models.data.events import Exporter

NAME = flows.EXPORTER
LEASE = "event-exporter"
PART_OF = "data"
USER = 10001
"""The image's user."""

CONFIG_PATH = "/etc/event-exporter"
CONFIG_FILE = "config.yaml"
QUEUE_PATH = "/var/lib/event-exporter"
HEALTH_PORT = 13133
METRICS_PORT = 8888

SELECTORS = {
    flows.KUBERNETES: "involvedObject.apiVersion!=kubeflow.org/v1",
    flows.TRAINING: "involvedObject.apiVersion=kubeflow.org/v1",
}
"""Which events go where: those about training jobs apart from all others."""

Config = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class EventExporterArgs:
    """What the exporter is declared from.

    Args:
        settings: replicas and resources.
        broker: where events go, and how the exporter gets in there.
        namespace: where it runs, beside its Secrets.
    """

    settings: Exporter
    broker: Broker
    namespace: pulumi.Input[str]


class EventExporter(Component):
    """Owns the exporter and its configuration; owns neither broker nor topics, and creates none.

    Delivers every event at least once. The leader watches the API server; whoever takes over first sends all events
    that the API server still has, an hour's worth, so consumers tell repeated ones by `metadata.uid` and
    `metadata.resourceVersion`. An event waits on disk until all in-sync copies of it are written, however long the
    broker is gone; when the disk's queue is full, watching waits too. The upstream program that most installations
    use (resmoio/kubernetes-event-exporter) waits for the partition's leader only and drops what fails.

    Source: https://github.com/open-telemetry/opentelemetry-collector-contrib, tag v0.139.0, in
    `receiver/k8sobjectsreceiver`, `extension/k8sleaderelector`, `exporter/kafkaexporter`, `exporter/rabbitmqexporter`.
    """

    group = "data"

    def __init__(self, name: str, args: EventExporterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        files = {CONFIG_FILE: configuration(args.broker)}
        config = k8s.core.v1.ConfigMap(
            NAME,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=NAME, namespace=args.namespace, labels=names.labels(NAME, part_of=PART_OF)
            ),
            data=files,
            opts=self.child(),
        )
        Workload(
            NAME,
            WorkloadArgs(
                namespace=args.namespace,
                part_of=PART_OF,
                container=_container(args.broker),
                availability=LeaderElected(replicas=args.settings.replicas, arguments=(), lease=LEASE),
                resources=args.settings.resources,
                permissions=PERMISSIONS,
                pod_annotations=names.files_digest(files),
            ),
            opts=self.child(depends_on=[config]),
        )
        self.register_outputs({})


def configuration(broker: Broker) -> str:
    """Return the collector's configuration, with every secret a reference to the environment."""
    receivers = {name: f"k8sobjects/{name}" for name in SELECTORS}
    exporters = {name: f"{broker.kind}/{name}" for name in SELECTORS}
    whole: Config = {
        "extensions": {
            "file_storage": {"directory": QUEUE_PATH, "fsync": True},
            "health_check": {"endpoint": f"0.0.0.0:{HEALTH_PORT}"},
            "k8s_leader_elector": {
                "auth_type": "serviceAccount",
                "lease_name": LEASE,
                "lease_namespace": "${env:POD_NAMESPACE}",
            },
            **broker.extensions,
        },
        "receivers": {receivers[name]: _receiver(selector) for name, selector in SELECTORS.items()},
        "exporters": {exporters[name]: broker.exporter(name) for name in SELECTORS},
        "service": {
            "extensions": ["file_storage", "health_check", "k8s_leader_elector", *broker.extensions],
            "telemetry": {"logs": {"encoding": "json"}, "metrics": {"readers": [_metrics_reader()]}},
            "pipelines": {
                f"logs/{name}": {"receivers": [receivers[name]], "exporters": [exporters[name]]} for name in SELECTORS
            },
        },
    }
    return yaml.safe_dump(json.loads(json.dumps(whole)), sort_keys=False, width=120)


def _receiver(selector: str) -> Config:
    return {
        "auth_type": "serviceAccount",
        "k8s_leader_elector": "k8s_leader_elector",
        "include_initial_state": True,
        "objects": [{"name": "events", "mode": "watch", "exclude_watch_type": ["DELETED"], "field_selector": selector}],
    }


def _metrics_reader() -> Mapping[str, object]:
    return {"pull": {"exporter": {"prometheus": {"host": "0.0.0.0", "port": METRICS_PORT}}}}  # noqa: S104 - in a pod


def _container(broker: Broker) -> Container:
    return Container(
        image=versions.EVENT_EXPORTER,
        arguments=(f"--config={CONFIG_PATH}/{CONFIG_FILE}",),
        environment={"POD_NAMESPACE": FromField(path="metadata.namespace"), **broker.environment},
        ports=PORTS,
        probes=Probes(
            readiness=Probe(path="/", port="http-health"),
            liveness=Probe(path="/", port="http-health", delay_seconds=15, failures=6),
        ),
        volumes=(
            Volume(name="config", path=CONFIG_PATH, config_map=NAME),
            Volume(name="queue", path=QUEUE_PATH, read_only=False),
            *broker.volumes,
        ),
        user=USER,
    )


PORTS: tuple[Port, ...] = (metrics(METRICS_PORT), health(HEALTH_PORT))

PERMISSIONS = Permissions(cluster=(Rule(groups=("",), resources=("events",), verbs=("list", "watch")),))
"""To read events and nothing else; its Lease is added by leader election."""
