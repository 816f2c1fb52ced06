"""Istio's control plane and the ingress gateway."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from infra.components.mesh.ingress_gateway import IngressGateway, IngressGatewayArgs
from infra.components.mesh.istiod import Istiod, IstiodArgs
from infra.settings.models.mesh import Ingress
from infra.settings.models.mesh import Istiod as IstiodSettings
from tests.unit.core.parsing import parse
from tests.unit.core.recording import Recording, record

SIZE: dict[str, Any] = {
    "autoscaling": {"min": 3, "max": 9, "targetCpuPercent": 70},
    "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}},
}


def ingress(**changes: Any) -> Recording:
    values = {**SIZE, "serviceType": "ClusterIP", "annotations": {}, "allowedCidrs": ["10.0.0.0/8"], **changes}
    args = IngressGatewayArgs(
        settings=parse(Ingress, **values),
        domain="kubeflow.example.com",
        namespace="istio-system",
        routes_namespace="kubeflow",
    )
    return record(lambda: IngressGateway("ingress-gateway", args))


def istiod(namespace: str = "istio-system") -> Recording:
    args = IstiodArgs(settings=parse(IstiodSettings, **SIZE), namespace=namespace, context="test")
    return record(lambda: Istiod("istiod", args))


@pytest.mark.parametrize("kind", ["LoadBalancer", "NodePort", "ClusterIP"])
def test_gateway_is_reached_as_the_settings_say(kind: str) -> None:
    service = ingress(serviceType=kind, annotations={"example.com/scheme": "internal"}).one("Service")

    assert service["spec"]["type"] == kind
    assert service["metadata"]["annotations"] == {"example.com/scheme": "internal"}
    assert {port["port"]: port["targetPort"] for port in service["spec"]["ports"]} == {
        80: "http",
        443: "https",
        15021: "http-status",
    }


@pytest.mark.parametrize(
    ("kind", "ranges"), [("LoadBalancer", ["10.0.0.0/8"]), ("NodePort", None), ("ClusterIP", None)]
)
def test_addresses_are_limited_where_a_load_balancer_can_do_so(kind: str, ranges: list[str] | None) -> None:
    assert ingress(serviceType=kind).one("Service")["spec"].get("loadBalancerSourceRanges") == ranges


def test_gateway_routes_the_platforms_domain_to_its_own_pods() -> None:
    recording = ingress()
    gateway = recording.one("Gateway")
    pods = recording.one("Deployment")["spec"]["template"]["metadata"]["labels"]

    assert gateway["spec"]["selector"].items() <= pods.items()
    assert gateway["spec"]["servers"][0]["hosts"] == ["kubeflow.example.com", "*.kubeflow.example.com"]
    assert (gateway["metadata"]["namespace"], gateway["metadata"]["name"]) == ("kubeflow", "kubeflow-gateway")


def test_gateway_reads_certificates_of_its_own_namespace_alone() -> None:
    recording = ingress()

    assert "ClusterRole" not in recording.kinds()
    assert recording.one("Role")["rules"] == [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]}
    ]


@pytest.mark.parametrize("declare", [ingress, istiod])
def test_mesh_scales_between_the_limits_that_are_set(declare: Any) -> None:
    recording: Recording = declare()
    spec = recording.one("HorizontalPodAutoscaler")["spec"]

    assert (spec["minReplicas"], spec["maxReplicas"]) == (3, 9)
    assert spec["metrics"][0]["resource"]["target"]["averageUtilization"] == 70
    assert "replicas" not in recording.one("Deployment")["spec"]


@pytest.mark.parametrize("namespace", ["istio-system", "mesh"])
def test_mesh_configuration_names_the_control_plane_where_it_is(namespace: str) -> None:
    config = istiod(namespace).one("ConfigMap", "istio")
    mesh = yaml.safe_load(config["data"]["mesh"])

    assert config["metadata"]["namespace"] == mesh["rootNamespace"] == namespace
    assert mesh["defaultConfig"]["discoveryAddress"] == f"istiod.{namespace}.svc:15012"
    assert mesh["trustDomain"] == "cluster.local"


def test_istios_objects_are_validated_by_istiod() -> None:
    recording = istiod()
    (webhook,) = recording.one("ValidatingWebhookConfiguration")["webhooks"]
    service = recording.one("Service")

    assert webhook["clientConfig"]["service"] == {
        "name": service["metadata"]["name"],
        "namespace": service["metadata"]["namespace"],
        "path": "/validate",
    }
    assert 443 in [port["port"] for port in service["spec"]["ports"]]
    assert webhook["failurePolicy"] == "Ignore"


def test_istiod_may_try_the_webhook_that_it_then_makes_mandatory() -> None:
    rules = istiod().one("Role")["rules"]

    assert {"apiGroups": ["networking.istio.io"], "resources": ["gateways"], "verbs": ["create"]} in rules


def test_no_permission_of_the_mesh_is_a_wildcard() -> None:
    recording = istiod()

    for rule in [*recording.one("ClusterRole")["rules"], *recording.one("Role")["rules"]]:
        assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]


def test_control_plane_starts_once_schemas_and_configuration_are_there() -> None:
    recording = istiod()
    (bundle,) = [resource.urn for resource in recording.resources if resource.type.endswith(":CrdBundle")]

    assert {bundle, recording.resource("ConfigMap").urn} <= recording.awaited("Deployment")
