"""The gateway all users come in by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from infra import versions
from infra.core import names
from infra.core.availability import Replicated
from infra.core.component import Component
from infra.core.parts import (
    Container,
    FromField,
    FromResource,
    Permissions,
    Port,
    Probe,
    Probes,
    Reach,
    Rule,
    Volume,
    metrics,
)
from infra.core.workload import Exposure, Workload, WorkloadArgs

if TYPE_CHECKING:
    from infra.settings.models.mesh import Ingress

NAME = "istio-ingressgateway"
PART_OF = "mesh"
GATEWAY = "kubeflow-gateway"
"""Name of the Gateway, which the routes of every web application refer to."""

PODS = {"istio": "ingressgateway"}
"""Label by which a Gateway finds its pods."""


@dataclass(frozen=True, kw_only=True)
class IngressGatewayArgs:
    """What the gateway is declared from.

    Args:
        settings: scaling, resources and how it is reached.
        domain: host name of the platform.
        namespace: where the proxies run.
        routes_namespace: where the Gateway that routes refer to lies.
    """

    settings: Ingress
    domain: str
    namespace: pulumi.Input[str]
    routes_namespace: pulumi.Input[str]


class IngressGateway(Component):
    """Owns the proxies, their Service and the Gateway; each web application owns its routes.

    Attributes:
        address: the Service's name and namespace, joined by a dot.

    Source: https://github.com/istio/istio, tag 1.30.1, `manifests/charts/gateways/istio-ingress`.
    """

    group = "mesh"

    def __init__(self, name: str, args: IngressGatewayArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        ingress = args.settings
        Workload(
            NAME,
            WorkloadArgs(
                namespace=args.namespace,
                part_of=PART_OF,
                container=CONTAINER,
                availability=Replicated(
                    replicas=ingress.autoscaling.min,
                    up_to=ingress.autoscaling.max,
                    target_cpu_percent=ingress.autoscaling.target_cpu_percent,
                ),
                resources=ingress.resources,
                permissions=PERMISSIONS,
                exposure=Exposure(
                    kind=ingress.service_type,
                    annotations=ingress.annotations,
                    allowed_cidrs=ingress.allowed_cidrs if ingress.service_type == "LoadBalancer" else (),
                ),
                pod_labels=PODS,
            ),
            opts=self.child(),
        )
        CustomResource(
            GATEWAY,
            api_version="networking.istio.io/v1",
            kind="Gateway",
            metadata=ObjectMetaArgs(
                name=GATEWAY, namespace=args.routes_namespace, labels=names.labels(GATEWAY, part_of=PART_OF)
            ),
            spec={
                "selector": PODS,
                "servers": [
                    {
                        "hosts": [args.domain, f"*.{args.domain}"],
                        "port": {"name": "http", "number": 80, "protocol": "HTTP"},
                    }
                ],
            },
            opts=self.child(),
        )
        self.address = pulumi.Output.format("{0}.{1}", NAME, args.namespace)
        self.register_outputs({"address": self.address})


CONTAINER = Container(
    image=versions.ISTIO_PROXY,
    arguments=(
        "proxy",
        "router",
        "--domain",
        "$(POD_NAMESPACE).svc.cluster.local",
        "--proxyLogLevel=warning",
        "--proxyComponentLogLevel=misc:error",
        "--log_output_level=default:info",
    ),
    environment={
        "POD_NAME": FromField(path="metadata.name"),
        "POD_NAMESPACE": FromField(path="metadata.namespace"),
        "INSTANCE_IP": FromField(path="status.podIP"),
        "HOST_IP": FromField(path="status.hostIP"),
        "NODE_NAME": FromField(path="spec.nodeName"),
        "SERVICE_ACCOUNT": FromField(path="spec.serviceAccountName"),
        "ISTIO_CPU_LIMIT": FromResource(resource="limits.cpu"),
        "PILOT_CERT_PROVIDER": "istiod",
        "CA_ADDR": "istiod.istio-system.svc:15012",
        "TRUST_DOMAIN": "cluster.local",
        "ISTIO_META_MESH_ID": "cluster.local",
        "ISTIO_META_CLUSTER_ID": "Kubernetes",
        "ISTIO_META_WORKLOAD_NAME": NAME,
        "ISTIO_META_OWNER": f"kubernetes://apis/apps/v1/namespaces/$(POD_NAMESPACE)/deployments/{NAME}",
        "ISTIO_META_NODE_NAME": FromField(path="spec.nodeName"),
        "ISTIO_META_UNPRIVILEGED_POD": "true",
    },
    ports=(
        Port(name="http", number=8080, service_port=80, reach=Reach.ANYWHERE),
        Port(name="https", number=8443, service_port=443, reach=Reach.ANYWHERE),
        Port(name="http-status", number=15021, service_port=15021, reach=Reach.ANYWHERE),
        metrics(15020, path="/stats/prometheus"),
    ),
    probes=Probes(
        startup=Probe(path="/healthz/ready", port="http-status", period_seconds=1, failures=120),
        readiness=Probe(path="/healthz/ready", port="http-status", period_seconds=5),
        liveness=Probe(path="/healthz/ready", port="http-status", period_seconds=20, failures=6),
    ),
    volumes=(
        Volume(name="workload-socket", path="/var/run/secrets/workload-spiffe-uds", read_only=False),
        Volume(name="credential-socket", path="/var/run/secrets/credential-uds", read_only=False),
        Volume(name="workload-certs", path="/var/run/secrets/workload-spiffe-credentials", read_only=False),
        Volume(name="istio-envoy", path="/etc/istio/proxy", read_only=False),
        Volume(name="istio-data", path="/var/lib/istio/data", read_only=False),
        Volume(name="mesh-config", path="/etc/istio/config", config_map="istio", optional=True),
        Volume(name="istiod-ca-cert", path="/var/run/secrets/istio", config_map="istio-ca-root-cert"),
        Volume(
            name="istio-token",
            path="/var/run/secrets/tokens",
            token_audience="istio-ca",  # noqa: S106 - an audience
            token_path="istio-token",  # noqa: S106 - a file name
        ),
    ),
    user=1337,
)

PERMISSIONS = Permissions(namespace=(Rule(groups=("",), resources=("secrets",), verbs=("get", "list", "watch")),))
"""Certificates that a Gateway names are Secrets of the proxies' own namespace."""
