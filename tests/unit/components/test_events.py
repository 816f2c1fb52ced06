"""Events: every broker is told the same, nothing acknowledged can be lost, and each user gets just what it needs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from infra.components.data.events import flows
from infra.components.data.events.component import Events, EventsArgs
from infra.core.chart import TYPE
from infra.settings.models.data.events import Events as EventsSettings
from infra.settings.models.data.events import Topics
from tests.unit.core.recording import Recording, record

TEAMS = ("vision", "language")
RESOURCES = {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"memory": "2Gi"}}
NODES = {"storage": {"size": "10Gi"}, "resources": RESOURCES}

KAFKA: dict[str, Any] = {
    "kind": "kafka",
    "bootstrapServers": [{"host": "kafka-0.example.com", "port": 9093}, {"host": "kafka-1.example.com", "port": 9093}],
    "tls": {"mode": "verify-full", "ca": {"name": "kafka-ca", "namespace": "flotilla-data", "key": "root.pem"}},
    "sasl": {"mechanism": "SCRAM-SHA-512", "credentials": {"secret": "exporter", "namespace": "flotilla-data"}},
    "admin": {"credentials": {"secret": "kafka-admin", "namespace": "flotilla-data", "passwordKey": "pass"}},
}
STRIMZI: dict[str, Any] = {"kind": "strimzi", "controllers": NODES, "brokers": NODES}
RABBITMQ: dict[str, Any] = {
    "kind": "rabbitmq",
    "host": "rabbitmq.example.com",
    "tls": {"mode": "verify-full", "systemRoots": True},
    "credentials": {"secret": "exporter", "namespace": "flotilla-data"},
    "admin": {"secret": "rabbitmq-admin", "namespace": "flotilla-data"},
}
OPERATOR: dict[str, Any] = {
    "kind": "rabbitmq-operator",
    **NODES,
    "tlsSecret": "rabbitmq-tls",
    "credentials": {"secret": "exporter", "namespace": "flotilla-data"},
}
SETTINGS: TypeAdapter[EventsSettings] = TypeAdapter(EventsSettings)
BROKERS = (KAFKA, STRIMZI, RABBITMQ, OPERATOR)


def events(values: dict[str, Any], **changes: Any) -> Recording:
    """Return what events of these settings declare."""
    args = EventsArgs(
        settings=SETTINGS.validate_json(json.dumps({**values, **changes})),
        namespace="flotilla-data",
        namespace_name="flotilla-data",
        block_class="block",
        teams=TEAMS,
    )
    return record(lambda: Events("events", args))


def collector(recording: Recording) -> dict[str, Any]:
    """Return the exporter's configuration."""
    return yaml.safe_load(recording.one("ConfigMap", "event-exporter")["data"]["config.yaml"])


def container(recording: Recording, kind: str, name: str) -> dict[str, Any]:
    """Return the container of a workload's pods."""
    return recording.one(kind, name)["spec"]["template"]["spec"]["containers"][0]


def environment(recording: Recording, kind: str, name: str) -> dict[str, Any]:
    """Return the environment of a workload's container: each variable's value, or where it comes from."""
    variables = container(recording, kind, name)["env"]
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in variables}


def test_no_broker_declares_nothing() -> None:
    assert events({"kind": "none"}).kinds() == []


@pytest.mark.parametrize("broker", BROKERS, ids=lambda broker: broker["kind"])
def test_exporter_is_elected_and_reads_only_events(broker: dict[str, Any]) -> None:
    recording = events(broker)

    assert recording.one("Deployment", "event-exporter")["spec"]["replicas"] == 2
    assert collector(recording)["extensions"]["k8s_leader_elector"]["lease_name"] == "event-exporter"
    assert recording.one("ClusterRole", "event-exporter")["rules"] == [
        {"apiGroups": [""], "resources": ["events"], "verbs": ["list", "watch"]}
    ]
    leases = [rule for rule in recording.one("Role", "event-exporter")["rules"] if "leases" in rule["resources"]]
    assert [rule.get("resourceNames") for rule in leases if "update" in rule["verbs"]] == [["event-exporter"]]


@pytest.mark.parametrize("broker", BROKERS, ids=lambda broker: broker["kind"])
def test_exporter_never_gives_an_event_up(broker: dict[str, Any]) -> None:
    config = collector(events(broker))

    for name, exporter in config["exporters"].items():
        assert exporter["retry_on_failure"]["max_elapsed_time"] == "0s", name
    assert all(receiver["include_initial_state"] for receiver in config["receivers"].values())


@pytest.mark.parametrize("broker", [KAFKA, STRIMZI], ids=lambda broker: broker["kind"])
def test_kafka_exporter_waits_for_all_copies_and_queues_on_disk(broker: dict[str, Any]) -> None:
    recording = events(broker)

    for exporter in collector(recording)["exporters"].values():
        assert exporter["producer"] == {
            "required_acks": "all",
            "compression": "zstd",
            "allow_auto_topic_creation": False,
        }
        assert exporter["sending_queue"]["storage"] == "file_storage"
        assert exporter["sending_queue"]["block_on_overflow"] is True
    mounts = {mount["mountPath"]: mount["readOnly"] for mount in exporter_mounts(recording)}
    assert mounts[collector(recording)["extensions"]["file_storage"]["directory"]] is False


def exporter_mounts(recording: Recording) -> list[dict[str, Any]]:
    return container(recording, "Deployment", "event-exporter")["volumeMounts"]


def test_events_of_training_jobs_flow_apart_from_all_others() -> None:
    config = collector(events(KAFKA))
    selectors = {name: receiver["objects"][0]["field_selector"] for name, receiver in config["receivers"].items()}

    assert selectors == {
        "k8sobjects/kubernetes-events": "involvedObject.apiVersion!=kubeflow.org/v1",
        "k8sobjects/training-events": "involvedObject.apiVersion=kubeflow.org/v1",
    }
    for name, pipeline in config["service"]["pipelines"].items():
        flow = name.removeprefix("logs/")
        (exporter,) = pipeline["exporters"]
        assert pipeline["receivers"] == [f"k8sobjects/{flow}"]
        assert config["exporters"][exporter]["logs"]["topic"] == f"flotilla.{flow}"


@pytest.mark.parametrize("broker", BROKERS, ids=lambda broker: broker["kind"])
def test_secrets_come_from_secrets(broker: dict[str, Any]) -> None:
    recording = events(broker)

    password = environment(recording, "Deployment", "event-exporter")["BROKER_PASSWORD"]
    assert password["secretKeyRef"]["key"] == "password"
    assert "${env:BROKER_PASSWORD}" in recording.one("ConfigMap", "event-exporter")["data"]["config.yaml"]


def test_changed_configuration_replaces_the_exporters_pods() -> None:
    def digest(**changes: Any) -> str:
        template = events(KAFKA, **changes).one("Deployment", "event-exporter")["spec"]["template"]
        return template["metadata"]["annotations"]["flotilla.dev/files-digest"]

    assert digest() == digest()
    assert digest() != digest(topics={"prefix": "other."})


def test_exporter_can_be_left_out() -> None:
    assert "Deployment" not in events(KAFKA, exporter=None).kinds()


def test_others_kafka_is_set_up_by_a_job_the_exporter_waits_for() -> None:
    recording = events(KAFKA)
    variables = environment(recording, "Job", "events-setup")

    assert variables["BOOTSTRAP_SERVERS"] == "kafka-0.example.com:9093,kafka-1.example.com:9093"
    assert (variables["TLS"], variables["TLS_CA"]) == ("true", "/etc/credentials/ca/root.pem")
    assert variables["ADMIN_PASSWORD_FILE"] == "/etc/credentials/admin/pass"
    assert recording.resource("Job", "events-setup").urn in recording.awaited("Deployment", "event-exporter")
    assert recording.one("ConfigMap", "events-setup")["data"].keys() == {
        *("kafka.sh", "common.sh", "topics.txt", "grants.txt")
    }


def test_administrator_can_come_by_certificate() -> None:
    recording = events(KAFKA, admin={"clientCertificate": "admin-certificate"})
    variables = environment(recording, "Job", "events-setup")

    assert variables["SASL_MECHANISM"] == ""
    assert variables["TLS_CERT"] == "/etc/credentials/admin-certificate/tls.crt"


def test_no_job_runs_where_an_administrator_has_set_up_everything() -> None:
    assert "Job" not in events(KAFKA, admin=None).kinds()
    assert "Job" not in events(RABBITMQ, admin=None).kinds()


def test_jobs_get_no_token_and_run_restricted() -> None:
    pod = events(KAFKA).one("Job", "events-setup")["spec"]["template"]["spec"]

    assert pod["automountServiceAccountToken"] is False
    assert pod["restartPolicy"] == "Never"
    assert pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True


def test_strimzi_spreads_three_controllers_and_three_brokers_over_zones() -> None:
    recording = events(STRIMZI)
    pools = {pool["metadata"]["name"]: pool["spec"] for pool in recording.all("KafkaNodePool")}
    kafka = recording.one("Kafka")["spec"]["kafka"]

    assert {name: (pool["replicas"], pool["roles"]) for name, pool in pools.items()} == {
        "events-controllers": (3, ["controller"]),
        "events-brokers": (3, ["broker"]),
    }
    for pool in pools.values():
        keys = [each["topologyKey"] for each in pool["template"]["pod"]["topologySpreadConstraints"]]
        assert keys == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
        assert pool["storage"]["volumes"][0] | {"class": "block", "deleteClaim": False} == pool["storage"]["volumes"][0]
    assert kafka["rack"] == {"topologyKey": "topology.kubernetes.io/zone"}
    assert (kafka["config"]["min.insync.replicas"], kafka["config"]["default.replication.factor"]) == (2, 3)
    assert kafka["listeners"][0]["authentication"] == {"type": "scram-sha-512"}


def test_strimzi_is_told_the_same_topics_and_permissions_as_others_kafka() -> None:
    recording = events(STRIMZI)
    topics = {topic["metadata"]["name"]: topic["spec"] for topic in recording.all("KafkaTopic")}
    users = {user["metadata"]["name"]: user["spec"]["authorization"]["acls"] for user in recording.all("KafkaUser")}

    assert topics.keys() == {topic.name for topic in flows.topics(Topics(), TEAMS)}
    assert all(topic["config"]["min.insync.replicas"] == "2" for topic in topics.values())
    assert users.keys() == {"event-exporter", "inference-logger", *TEAMS}
    assert {acl["resource"]["name"] for acl in users["vision"]} == {"flotilla.team.vision."}
    assert {operation for acl in users["event-exporter"] for operation in acl["operations"]} == {"Write", "Describe"}


@pytest.mark.parametrize(("installed", "releases"), [("install", 1), ("present", 0)])
def test_strimzi_is_installed_only_where_the_platform_does_not_bring_it(installed: str, releases: int) -> None:
    recording = events(STRIMZI, installed=installed)
    found = [resource.inputs for resource in recording.resources if resource.type == TYPE]

    assert len(found) == releases
    assert all(release["values"]["replicas"] == 2 for release in found)


@pytest.mark.parametrize("monitored", [True, False])
def test_strimzi_is_monitored_where_there_is_an_operator_for_it(monitored: bool) -> None:
    assert ("PodMonitor" in events(STRIMZI, podMonitor=monitored).kinds()) is monitored


def test_rabbitmq_cluster_keeps_its_majority_and_its_ports_to_itself() -> None:
    recording = events(OPERATOR)
    spec = recording.one("RabbitmqCluster")["spec"]
    peers, clients = recording.one("NetworkPolicy", "events")["spec"]["ingress"]

    assert (spec["replicas"], spec["persistence"]["storageClassName"]) == (3, "block")
    assert "cluster_partition_handling = pause_minority" in spec["rabbitmq"]["additionalConfig"]
    assert spec["tls"] == {"secretName": "rabbitmq-tls", "disableNonTLSListeners": True}
    assert [port["port"] for port in peers["ports"]] == [4369, 25672]
    assert [port["port"] for port in clients["ports"]] == [5671, 15671, 15692]
    assert recording.one("PodDisruptionBudget", "events")["spec"]["maxUnavailable"] == 1


@pytest.mark.parametrize(
    ("broker", "management"),
    [
        (lambda: RABBITMQ, "https://rabbitmq.example.com:15671"),
        (
            lambda: {**RABBITMQ, "tls": {"mode": "disable"}, "managementPort": 15672},
            "http://rabbitmq.example.com:15672",
        ),
        (lambda: OPERATOR, "https://events.flotilla-data.svc:15671"),
        (lambda: {**OPERATOR, "tlsSecret": None}, "http://events.flotilla-data.svc:15672"),
    ],
)
def test_rabbitmq_is_set_up_through_its_management_interface(
    broker: Callable[[], dict[str, Any]], management: str
) -> None:
    assert environment(events(broker()), "Job", "events-setup")["MANAGEMENT"] == management
