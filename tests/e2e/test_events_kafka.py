"""Events on their way to Kafka: the Job that prepares the brokers, the real exporter, and a broker that dies."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaProducer
from kafka.admin import (
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.errors import TopicAuthorizationFailedError

from infra.components.data.events import flows, setup
from tests.e2e import data_plane
from tests.e2e.data_plane import ADMINS, EXPORTER, DataPlane
from tests.e2e.objects import eventually, namespace
from tests.servers.fixtures import HOSTS

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.api import ApiClient, Json
    from sandbox.cluster import Sandbox
    from tests.servers.certificates import Authority
    from tests.servers.fixtures import Servers
    from tests.servers.kafka import Kafka

pytestmark = pytest.mark.e2e

TOPIC = f"flotilla.{flows.KUBERNETES}"
EVENTS = 600
PAUSE_SECONDS = 0.03
DELIVERY_SECONDS = 180.0


@pytest.fixture(scope="module")
def cluster(module_servers: Servers, authority: Authority) -> Kafka:
    names = [f"broker-{number}.{data_plane.DOMAIN}" for number in range(3)]
    users = {flows.EXPORTER: None, flows.INFERENCE_LOGGER: None, "vision": None, "language": None}
    return module_servers.kafka(tls=authority.issue("brokers", *HOSTS), names=names, users=users)


@pytest.fixture(scope="module")
def plane(
    data_sandbox: Sandbox, cluster: Kafka, authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> DataPlane:
    folder: Path = tmp_path_factory.mktemp("events") / "values"
    plane = DataPlane(data_sandbox, data_plane.objects(folder, {"events": data_plane.events(cluster)}))
    places = {f"{name}:{port}": port for name, port in zip(cluster.names, cluster.pod_ports, strict=True)}
    data_sandbox.outside = data_sandbox.outside | places
    plane.put_authority(authority)
    plane.put_login(ADMINS["kafka"], cluster.admin)
    plane.put_login(EXPORTER, cluster.logins[flows.EXPORTER])
    return plane


@pytest.fixture(scope="module")
def prepared(plane: DataPlane) -> str:
    """Prepare the brokers with the Job as it is declared; return its log."""
    return plane.run(plane.prepare_job(setup.NAME), "events-setup-first")


@pytest.fixture(scope="module")
def exporter(plane: DataPlane, prepared: str) -> Iterator[None]:
    """Run the exporter as it is declared, until its replicas are ready and one of them leads."""
    plane.apply(plane.of(flows.EXPORTER))
    ready = ["rollout", "status", f"deployment/{flows.EXPORTER}", "--timeout=5s"]
    eventually(lambda: plane.kubectl(*ready).returncode == 0, DELIVERY_SECONDS)
    yield
    plane.kubectl("delete", "deployment", flows.EXPORTER)


def test_setup_job_creates_what_is_declared(cluster: Kafka, prepared: str) -> None:
    with closing(cluster.admin_client()) as client:
        found = {each["name"]: each for each in client.describe_topics()}

    wanted = {TOPIC, "flotilla.training-events", "flotilla.inference-logs"}
    assert wanted | {"flotilla.team.vision.events", "flotilla.team.language.events"} <= found.keys()
    assert {len(part["replica_nodes"]) for part in found[TOPIC]["partitions"]} == {3}


def test_setup_job_run_again_changes_nothing(plane: DataPlane, cluster: Kafka, prepared: str) -> None:
    before = _permissions(cluster)

    plane.run(plane.prepare_job(setup.NAME), "events-setup-second")

    assert _permissions(cluster) == before
    assert before


def test_team_writes_and_reads_its_own_topics_only(cluster: Kafka, prepared: str) -> None:
    settings = cluster.client_settings(cluster.logins["vision"])
    with closing(KafkaProducer(**settings, acks="all", max_block_ms=20000)) as producer:
        producer.send("flotilla.team.vision.events", b"mine").get(30)
        with pytest.raises(TopicAuthorizationFailedError):
            producer.send("flotilla.team.language.events", b"not mine").get(30)
        with pytest.raises(TopicAuthorizationFailedError):
            producer.send(TOPIC, b"not mine").get(30)


def test_no_acknowledged_event_is_lost_when_a_broker_dies_under_load(
    plane: DataPlane, cluster: Kafka, exporter: None
) -> None:
    with plane.sandbox.api() as api:
        place = namespace(api)
        created = [_event(api, place, number) for number in range(EVENTS // 3)]
        victim = _leader(cluster)
        cluster.kill(victim)
        created += [_event(api, place, number) for number in range(EVENTS // 3, EVENTS)]

    delivered = _delivered(cluster, set(created))

    assert not cluster.running
    assert len(set(created)) == EVENTS
    assert set(created) - delivered == set()
    cluster.start(victim)


def _event(api: ApiClient, place: str, number: int) -> str:
    """Create an event; return the id that the API server acknowledged it with."""
    time.sleep(PAUSE_SECONDS)
    involved = {"apiVersion": "v1", "kind": "Pod", "namespace": place, "name": f"pod-{number}"}
    event: Json = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"counted-{number}"},
        "involvedObject": involved,
        "reason": "Counted",
        "message": f"event {number}",
        "type": "Normal",
    }
    return api.create(f"/api/v1/namespaces/{place}/events", event)["metadata"]["uid"]


def _leader(cluster: Kafka) -> int:
    """Return the broker that leads most of the topic's partitions."""
    with closing(cluster.admin_client()) as client:
        (found,) = client.describe_topics([TOPIC])
    leaders = [part["leader_id"] for part in found["partitions"]]
    return max(set(leaders), key=leaders.count)


def _delivered(cluster: Kafka, wanted: set[str]) -> set[str]:
    """Return the ids of the events in the topic, once all that are wanted are there or time is up."""
    found: set[str] = set()
    deadline = time.monotonic() + DELIVERY_SECONDS
    while wanted - found and time.monotonic() < deadline:
        found = {_uid(record) for record in cluster.read(TOPIC)}
    return found


def _uid(value: str) -> str:
    content = json.loads(value)
    return content.get("object", content)["metadata"]["uid"]


def _permissions(cluster: Kafka) -> set[str]:
    everything = ACLFilter(
        None,
        None,
        ACLOperation.ANY,
        ACLPermissionType.ANY,
        ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY),
    )
    with closing(cluster.admin_client()) as client:
        found, _ = client.describe_acls(everything)
    return {str(each) for each in found}
