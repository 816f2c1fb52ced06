"""Services from service ports, NetworkPolicies from reach."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from infra.core import traffic
from infra.core.parts import Port, Reach, health, metrics, webhook
from tests.unit.core.recording import record

SELECTED = {"app.kubernetes.io/name": "boat"}
LABELS = {"part": "fleet"}


def service(*ports: Port, **arguments: Any) -> dict[str, Any]:
    recording = record(lambda: traffic.service("boat", "harbour", ports, LABELS, pulumi.ResourceOptions(), **arguments))
    return recording.one("Service")


def ingress(*ports: Port) -> list[dict[str, Any]]:
    recording = record(lambda: traffic.network_policy("boat", "harbour", ports, LABELS, pulumi.ResourceOptions()))
    spec = recording.one("NetworkPolicy")["spec"]
    assert spec["podSelector"] == {"matchLabels": SELECTED}
    assert spec["policyTypes"] == ["Ingress"]
    return spec["ingress"]


def port(number: int, reach: Reach) -> Port:
    return Port(name=f"port-{number}", number=number, reach=reach)


def test_service_offers_only_ports_with_a_service_port() -> None:
    manifest = service(health(8081), webhook(9443), metrics(8080, service_port=80), metrics(8082))

    assert manifest["spec"]["ports"] == [
        {"name": "https-webhook", "port": 443, "targetPort": "https-webhook", "protocol": "TCP"},
        {"name": "http-metrics", "port": 80, "targetPort": "http-metrics", "protocol": "TCP"},
    ]
    assert manifest["spec"]["selector"] == SELECTED
    assert manifest["metadata"] == {"name": "boat", "namespace": "harbour", "labels": LABELS}


@pytest.mark.parametrize("ports", [(), (health(8081),), (metrics(8080),)])
def test_no_service_without_a_service_port(ports: tuple[Port, ...]) -> None:
    declared: list[object] = []

    recording = record(
        lambda: declared.append(traffic.service("boat", "harbour", ports, LABELS, pulumi.ResourceOptions()))
    )

    assert declared == [None]
    assert recording.kinds() == []


def test_service_is_reached_from_inside_unless_said_otherwise() -> None:
    spec = service(webhook(9443))["spec"]

    assert spec["type"] == "ClusterIP"
    assert "externalTrafficPolicy" not in spec
    assert "loadBalancerSourceRanges" not in spec


def test_load_balancer_keeps_client_addresses_and_admits_only_what_is_allowed() -> None:
    manifest = service(
        webhook(9443), kind="LoadBalancer", annotations={"a": "b"}, allowed_cidrs=["10.0.0.0/8", "192.168.0.0/16"]
    )

    assert manifest["spec"]["externalTrafficPolicy"] == "Local"
    assert manifest["spec"]["loadBalancerSourceRanges"] == ["10.0.0.0/8", "192.168.0.0/16"]
    assert manifest["metadata"]["annotations"] == {"a": "b"}


def test_workload_without_ports_admits_nothing() -> None:
    assert ingress() == []


def test_reach_pod_admits_nobody() -> None:
    assert ingress(port(1, Reach.POD)) == []


@pytest.mark.parametrize(
    ("reach", "peers"),
    [
        (Reach.NAMESPACE, [{"podSelector": {}}]),
        (Reach.CLUSTER, [{"namespaceSelector": {}}]),
        (Reach.ANYWHERE, None),
    ],
)
def test_reach_admits_just_those_it_names(reach: Reach, peers: list[dict[str, Any]] | None) -> None:
    (rule,) = ingress(port(1, reach), port(2, reach))

    assert rule.get("from") == peers
    assert rule["ports"] == [{"port": 1, "protocol": "TCP"}, {"port": 2, "protocol": "TCP"}]


def test_ports_of_different_reach_are_admitted_apart() -> None:
    rules = ingress(*(port(number, reach) for number, reach in enumerate(Reach, start=1)))

    assert [[each["port"] for each in rule["ports"]] for rule in rules] == [[2], [3], [4]]


@pytest.mark.parametrize(
    ("made", "reach", "service_port", "metrics_path"),
    [
        (metrics(1), Reach.CLUSTER, None, "/metrics"),
        (webhook(1), Reach.ANYWHERE, 443, None),
        (health(1), Reach.POD, None, None),
    ],
)
def test_ports_by_purpose_have_the_reach_they_need(
    made: Port, reach: Reach, service_port: int | None, metrics_path: str | None
) -> None:
    assert (made.reach, made.service_port, made.metrics_path) == (reach, service_port, metrics_path)
    assert len(made.name) <= 15
