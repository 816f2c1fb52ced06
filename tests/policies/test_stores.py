"""Stores: an address in this cluster needs two pods behind it; an address elsewhere is none of the rule's business."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from infra.paths import ROOT
from policies import check as breaches
from policies.manifest import UNKNOWN
from policies.rules.stores import STORES, check
from tests.policies.objects import changed, container, deployment, with_pod

if TYPE_CHECKING:
    from policies.manifest import Manifest

REASON = "trials only, nothing in it is kept"


def config(**data: Any) -> dict[str, Any]:
    metadata = {"name": "pipeline-install-config", "namespace": "kubeflow"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def custom(api: str, kind: str, name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "data"}, "spec": spec}


def moco(replicas: Any = 3) -> dict[str, Any]:
    return custom("moco.cybozu.com/v1beta2", "MySQLCluster", "db", replicas=replicas)


def pool(name: str, replicas: int, *roles: str) -> dict[str, Any]:
    made = custom("kafka.strimzi.io/v1", "KafkaNodePool", name, replicas=replicas, roles=list(roles))
    made["metadata"]["labels"] = {"strimzi.io/cluster": "events"}
    return made


def service(name: str, namespace: str = "kubeflow") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    spec = {"selector": {"app.kubernetes.io/name": "web"}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def place(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


MYSQL = config(dbHost="moco-db-primary.data.svc")
ARGO = config(artifactRepository="s3:\n  bucket: pipelines\n  endpoint: seaweedfs.kubeflow:9000\n")
LAUNCHER = config(providers="minio:\n  default:\n    region: eu\n    endpoint: http://store-s3.data.svc:8333\n")
BROKERS = config(config="exporters:\n  kafka:\n    brokers:\n    - events-kafka-bootstrap.data.svc:9093\n")
RABBIT = config(config="connection:\n  endpoint: amqp://queue.data.svc:5672\n  vhost: flotilla\n")
ONE = changed(deployment(), spec__replicas=1)
SEAWEED = "seaweed.seaweedfs.com/v1"

REFUSED: list[tuple[list[Manifest], str]] = [
    ([config(dbHost="mysql")], "dbHost points to mysql, behind which nothing of this stack runs two pods"),
    ([config(mysqlHost="mysql.kubeflow"), place("kubeflow")], "mysqlHost points to mysql.kubeflow, behind which"),
    ([config(dbHost="mysql"), service("mysql"), ONE], "dbHost points to mysql, which is a single pod"),
    ([config(PGHOST="model-catalog-postgres.kubeflow.svc.cluster.local")], "PGHOST points to model-catalog-postgres"),
    ([config(KATIB_MYSQL_DB_HOST="katib-mysql.kubeflow.svc")], "KATIB_MYSQL_DB_HOST points to katib-mysql"),
    ([MYSQL], "behind which nothing of this stack runs two pods"),
    ([MYSQL, moco(1)], "which is a single pod"),
    ([ARGO, place("kubeflow")], "endpoint points to seaweedfs.kubeflow, behind which"),
    ([LAUNCHER, custom(SEAWEED, "Seaweed", "store", s3={"replicas": 1})], "which is a single pod"),
    ([BROKERS, pool("brokers", 1, "broker"), pool("controllers", 3, "controller")], "which is a single pod"),
    ([RABBIT, custom("rabbitmq.com/v1beta1", "RabbitmqCluster", "queue", replicas=1)], "which is a single pod"),
    (
        [with_pod(containers=[{**container(), "env": [{"name": "OBJECTSTORECONFIG_HOST", "value": "minio"}]}])],
        "OBJECTSTORECONFIG_HOST points to minio",
    ),
    ([config(brokers="kafka.example.com:9092,kafka.kubeflow.svc:9092")], "brokers points to kafka.kubeflow.svc"),
]

ACCEPTED: list[list[Manifest]] = [
    [config(dbHost="mysql.cluster.eu-west-1.rds.amazonaws.com", mysqlHost="10.0.0.1")],
    [config(dbHost="mysql.kubeflow")],
    [config(brokers="kafka-0.example.com:9092,kafka-1.example.com:9092")],
    [config(dbHost=UNKNOWN)],
    [config(dbPort="3306", pipelineDb="mlpipeline", note="mysql.kubeflow.svc")],
    [config(text="a: [\n")],
    [MYSQL, moco()],
    [MYSQL, moco(UNKNOWN)],
    [config(PGHOST="db-rw.data.svc"), custom("postgresql.cnpg.io/v1", "Cluster", "db", instances=3)],
    [config(dbHost="db-haproxy.data.svc"), custom("pxc.percona.com/v1", "PerconaXtraDBCluster", "db", pxc={"size": 3})],
    [LAUNCHER, custom(SEAWEED, "Seaweed", "store", s3={"replicas": 2})],
    [config(MINIO_HOST="minio.data.svc"), custom("minio.min.io/v2", "Tenant", "m", pools=[{"servers": 4}])],
    [BROKERS, pool("brokers", 3, "broker")],
    [BROKERS, pool("one", 1, "broker"), pool("two", 1, "broker")],
    [RABBIT, custom("rabbitmq.com/v1beta1", "RabbitmqCluster", "queue", replicas=3)],
    [config(dbHost="mysql"), service("mysql"), deployment()],
    [config(collector="endpoint: otel.observability.svc:4317\nprotocol: grpc\n")],
    [config(health="health_check:\n  endpoint: 0.0.0.0:13133\n  region: eu\n")],
]


@pytest.mark.parametrize(("manifests", "fault"), REFUSED)
def test_store_of_a_single_pod_is_refused(manifests: list[Manifest], fault: str) -> None:
    found = check(manifests)

    assert len(found) == 1
    assert fault in found[0].fault
    assert found[0].subject is manifests[0]


@pytest.mark.parametrize("manifests", ACCEPTED)
def test_store_that_survives_or_is_elsewhere_is_accepted(manifests: list[Manifest]) -> None:
    assert check(manifests) == []


def test_store_can_be_excused_with_a_reason() -> None:
    excused = changed(config(dbHost="mysql"), metadata__annotations={"flotilla.dev/single-store-reason": REASON})

    assert [each for each in breaches([config(dbHost="mysql")]) if each.rule == STORES.name]
    assert not [each for each in breaches([excused]) if each.rule == STORES.name]


@pytest.mark.parametrize("environment", ["prod-aws", "prod-onprem"])
def test_production_keeps_no_state_in_a_single_pod(environment: str) -> None:
    golden = ROOT / "tests" / "golden" / f"{environment}.yaml"
    manifests = list(yaml.safe_load_all(golden.read_text(encoding="utf-8")))

    assert check(manifests) == []
