"""Environments as targets: what is external is examined, with the Secrets that the settings name."""

from __future__ import annotations

import base64
from typing import Any, TypeVar

import pytest

from infra.settings import Settings, load
from ops.doctor.examine import Examination
from ops.doctor.kafka.probe import KafkaProbe
from ops.doctor.mysql.probe import MySqlProbe
from ops.doctor.network import REACH
from ops.doctor.object_store.probe import ObjectStoreProbe
from ops.doctor.plan.cluster import cluster_target
from ops.doctor.plan.databases import databases
from ops.doctor.plan.endpoint import EndpointProbe
from ops.doctor.plan.events import events
from ops.doctor.plan.object_store import object_store
from ops.doctor.plan.references import References
from ops.doctor.postgresql.probe import PostgresProbe
from tests.unit.doctor_fakes import FakeApi, SilentApi

T = TypeVar("T")
SECRETS = "/api/v1/namespaces/{}/secrets/{}"
CA = "-----BEGIN CERTIFICATE-----"


def secret(**entries: str) -> dict[str, Any]:
    return {"data": {key: base64.b64encode(value.encode()).decode() for key, value in entries.items()}}


def production() -> FakeApi:
    """Return a cluster with all that prod-aws names."""
    users = ("mysql-admin", "postgresql-admin", "kafka-admin", "kafka-event-exporter")
    objects = {
        SECRETS.format("flotilla-data", name): secret(username=name, password=f"password-of-{name}\n") for name in users
    }
    for namespace in ("kubeflow", "flotilla-data"):
        objects[f"/api/v1/namespaces/{namespace}/configmaps/rds-ca"] = {"data": {"global-bundle.pem": CA}}
    return FakeApi(objects)


@pytest.fixture(scope="module")
def aws() -> Settings:
    return load("prod-aws")


def probes(examinations: list[Examination], kind: type[T]) -> list[T]:
    return [each.probe for each in examinations if isinstance(each.probe, kind)]


def closed(examinations: list[Examination]) -> list[Examination]:
    for each in examinations:
        each.probe.close()
    return examinations


def test_external_databases_are_examined_with_their_administrators(aws: Settings) -> None:
    known = References(production())
    found = closed(list(databases(aws, known, 5)))

    [mysql] = probes(found, MySqlProbe)
    [postgresql] = probes(found, PostgresProbe)
    assert known.faults == []
    assert mysql.target.name == "data.databases.mysql"
    assert mysql.target.admin is not None
    assert (mysql.target.admin.user, mysql.target.admin.password.value) == ("mysql-admin", "password-of-mysql-admin")
    assert mysql.target.tls.ca == CA
    assert mysql.target.old_clients == ("metadata",)
    assert mysql.target.connections == 200 * 3
    assert postgresql.address.port == 5432
    assert [consumer.name for consumer in postgresql.target.consumers] == ["katib", "modelRegistry", "modelCatalog"]


def test_the_external_broker_is_examined_with_every_topic_and_its_users(aws: Settings) -> None:
    [found] = closed(list(events(aws, References(production()), 5)))

    assert isinstance(found.probe, KafkaProbe)
    target = found.probe.target
    assert target.login is not None
    assert target.login.user == "kafka-admin"
    assert [writer.user for writer in target.writers] == ["kafka-event-exporter"]
    assert target.administers
    assert target.acls
    topics = {topic.name: topic for topic in target.topics}
    assert topics["flotilla.kubernetes-events"].principals == ("User:event-exporter",)
    assert topics["flotilla.team.vision.events"].principals == ("User:vision",)


def test_the_cloud_store_is_examined_as_whoever_runs_the_doctor(aws: Settings) -> None:
    [found] = closed(list(object_store(aws, References(production()), 5)))

    assert isinstance(found.probe, ObjectStoreProbe)
    target = found.probe.target
    assert str(target.endpoint) == "s3.eu-west-1.amazonaws.com:443"
    assert target.login is None
    assert target.tls.mode == "verify-full"
    assert [(bucket.purpose, bucket.versioned) for bucket in target.buckets][-1] == ("backups", True)


def test_a_missing_secret_leaves_the_way_to_the_server_to_check_and_is_named(aws: Settings) -> None:
    api = production()
    del api.objects[SECRETS.format("flotilla-data", "mysql-admin")]
    known = References(api)
    found = closed(list(databases(aws, known, 5)))

    [reach] = [each for each in found if isinstance(each.probe, EndpointProbe)]
    assert reach.checks == REACH
    assert reach.probe.subject.startswith("data.databases.mysql ")
    assert [(fault.path, fault.what) for fault in known.faults] == [
        ("data.databases.mysql.admin", "there is no Secret flotilla-data/mysql-admin")
    ]


def test_a_missing_key_is_named_with_those_there_are(aws: Settings) -> None:
    api = production()
    api.objects[SECRETS.format("flotilla-data", "mysql-admin")] = secret(user="root", password="word")
    known = References(api)
    closed(list(databases(aws, known, 5)))

    assert [fault.what for fault in known.faults] == [
        "Secret flotilla-data/mysql-admin has no username; it has password, user"
    ]


def test_a_cluster_that_does_not_answer_is_asked_once(aws: Settings) -> None:
    api = SilentApi()
    known = References(api)
    closed([*databases(aws, known, 5), *events(aws, known, 5)])

    assert len(api.asked) == 1
    assert known.faults == []


def test_what_operators_run_is_not_external() -> None:
    local, known = load("local"), References(FakeApi())

    assert [*databases(local, known, 5), *events(local, known, 5), *object_store(local, known, 5)] == []


def test_the_cluster_is_examined_with_its_pools_teams_and_autoscaler(aws: Settings) -> None:
    target = cluster_target(aws, "c")

    assert [pool.name for pool in target.pools] == ["system", "cpu", "cpu-spot", "gpu-a100", "gpu-h100"]
    assert [(pool.name, dict(pool.devices)) for pool in target.gpu_pools] == [
        ("gpu-a100", {"nvidia.com/gpu": 8}),
        ("gpu-h100", {"nvidia.com/gpu": 8}),
    ]
    assert (target.autoscaler.kind, target.autoscaler.namespace) == ("karpenter", "karpenter")
    assert target.environment == "prod-aws"
    assert target.teams == tuple(team.name for team in aws.teams)
