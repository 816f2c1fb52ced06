"""Istio's control plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s
import yaml

from infra import crd_sources, versions
from infra.core import names
from infra.core.availability import Replicated
from infra.core.component import Component
from infra.core.crds.bundle import CrdBundle
from infra.core.parts import (
    Container,
    FromField,
    Permissions,
    Port,
    Probe,
    Probes,
    Reach,
    Rule,
    Volume,
    metrics,
)
from infra.core.workload import Workload, WorkloadArgs

if TYPE_CHECKING:
    from infra.settings.models.mesh import Istiod as IstiodSettings

NAME = "istiod"
"""Proxies look the control plane up by this Service name."""

PART_OF = "mesh"
TRUST_DOMAIN = "cluster.local"
VALIDATOR = "istio-validator-istio-system"
READ = ("get", "list", "watch")


@dataclass(frozen=True, kw_only=True)
class IstiodArgs:
    """What the control plane is declared from.

    Args:
        settings: scaling and resources.
        namespace: Istio's root namespace.
        context: the cluster's kubeconfig context, for the schemas applied outside the engine.
    """

    settings: IstiodSettings
    namespace: pulumi.Input[str]
    context: pulumi.Input[str]


class Istiod(Component):
    """Configures the mesh's proxies and signs their certificates.

    Owns Istio's schemas, mesh configuration and validating webhook; owns no gateway and injects no sidecars.

    Attributes:
        ready: what gateways and routes must wait for.

    Source: https://github.com/istio/istio, tag 1.30.1, `manifests/charts/istio-control/istio-discovery`.
    """

    group = "mesh"

    def __init__(self, name: str, args: IstiodArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        labels = names.labels(NAME, part_of=PART_OF)
        crds = CrdBundle(f"{name}-crds", crd_sources.ISTIO, context=args.context, opts=self.child())
        mesh = k8s.core.v1.ConfigMap(
            f"{name}-mesh",
            metadata=k8s.meta.v1.ObjectMetaArgs(name="istio", namespace=args.namespace, labels=labels),
            data=pulumi.Output.from_input(args.namespace).apply(
                lambda namespace: {"mesh": _mesh_configuration(namespace), "meshNetworks": "networks: {}\n"}
            ),
            opts=self.child(),
        )
        workload = Workload(
            NAME,
            WorkloadArgs(
                namespace=args.namespace,
                part_of=PART_OF,
                container=CONTAINER,
                availability=Replicated(
                    replicas=args.settings.autoscaling.min,
                    up_to=args.settings.autoscaling.max,
                    target_cpu_percent=args.settings.autoscaling.target_cpu_percent,
                ),
                resources=args.settings.resources,
                permissions=PERMISSIONS,
                pod_labels={"istio": "pilot"},
            ),
            opts=self.child(depends_on=[crds, mesh]),
        )
        k8s.admissionregistration.v1.ValidatingWebhookConfiguration(
            VALIDATOR,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=VALIDATOR, labels=labels | {"istio": "istiod", "istio.io/rev": "default"}
            ),
            webhooks=[_validator(args.namespace)],
            opts=self.child(depends_on=[workload]),
        )
        self.ready: list[pulumi.Resource] = [crds, workload]
        self.register_outputs({})


def _mesh_configuration(namespace: str) -> str:
    configuration = {
        "accessLogFile": "/dev/stdout",
        "defaultConfig": {"discoveryAddress": f"{NAME}.{namespace}.svc:15012"},
        "enablePrometheusMerge": True,
        "rootNamespace": namespace,
        "trustDomain": TRUST_DOMAIN,
    }
    return yaml.safe_dump(configuration, sort_keys=True)


def _validator(namespace: pulumi.Input[str]) -> k8s.admissionregistration.v1.ValidatingWebhookArgs:
    """Return the webhook that checks Istio's own objects; istiod fills in its certificate authority.

    It ignores failures: istiod turns that into `Fail` by itself once it serves.
    """
    return k8s.admissionregistration.v1.ValidatingWebhookArgs(
        name="rev.validation.istio.io",
        admission_review_versions=["v1"],
        failure_policy="Ignore",
        side_effects="None",
        client_config=k8s.admissionregistration.v1.WebhookClientConfigArgs(
            service=k8s.admissionregistration.v1.ServiceReferenceArgs(name=NAME, namespace=namespace, path="/validate")
        ),
        object_selector=k8s.meta.v1.LabelSelectorArgs(match_labels={"istio.io/rev": "default"}),
        rules=[
            k8s.admissionregistration.v1.RuleWithOperationsArgs(
                api_groups=list(ISTIO_GROUPS),
                api_versions=["*"],
                operations=["CREATE", "UPDATE"],
                resources=["*"],
            )
        ],
    )


ISTIO_GROUPS = (
    "security.istio.io",
    "networking.istio.io",
    "telemetry.istio.io",
    "extensions.istio.io",
)

CONTAINER = Container(
    image=versions.ISTIO_PILOT,
    arguments=(
        "discovery",
        "--monitoringAddr=:15014",
        "--log_output_level=default:info",
        "--domain",
        TRUST_DOMAIN,
        "--keepaliveMaxServerConnectionAge",
        "30m",
    ),
    environment={
        "REVISION": "default",
        "PILOT_CERT_PROVIDER": "istiod",
        "CLUSTER_ID": "Kubernetes",
        "ENABLE_DEBUG_ON_HTTP": "false",
        "PILOT_ENABLE_ANALYSIS": "false",
        "POD_NAME": FromField(path="metadata.name"),
        "POD_NAMESPACE": FromField(path="metadata.namespace"),
        "SERVICE_ACCOUNT": FromField(path="spec.serviceAccountName"),
    },
    ports=(
        Port(name="http-health", number=8080, reach=Reach.POD),
        Port(name="grpc-xds", number=15010, service_port=15010, reach=Reach.CLUSTER),
        Port(name="tls-xds", number=15012, service_port=15012, reach=Reach.CLUSTER),
        Port(name="https-webhook", number=15017, service_port=443, reach=Reach.ANYWHERE),
        metrics(15014, service_port=15014),
    ),
    probes=Probes(
        startup=Probe(path="/ready", port="http-health", period_seconds=2, failures=60),
        readiness=Probe(path="/ready", port="http-health", period_seconds=3),
        liveness=Probe(path="/ready", port="http-health", period_seconds=20, failures=6),
    ),
    volumes=(
        Volume(
            name="istio-token",
            path="/var/run/secrets/tokens",
            token_audience="istio-ca",  # noqa: S106 - an audience
            token_path="istio-token",  # noqa: S106 - a file name
        ),
        Volume(name="local-certs", path="/var/run/secrets/istio-dns", memory=True, read_only=False),
        Volume(name="cacerts", path="/etc/cacerts", secret="cacerts", optional=True),  # noqa: S106 - a name
    ),
    user=1337,
)

PERMISSIONS = Permissions(
    cluster=(
        Rule(
            groups=("admissionregistration.k8s.io",),
            resources=("mutatingwebhookconfigurations",),
            verbs=(*READ, "update", "patch"),
        ),
        Rule(
            groups=("admissionregistration.k8s.io",),
            resources=("validatingwebhookconfigurations",),
            verbs=(*READ, "update"),
        ),
        *(
            Rule(groups=(group,), resources=plurals, verbs=READ)
            for group, plurals in crd_sources.ISTIO.resources().items()
        ),
        Rule(
            groups=("networking.istio.io",),
            resources=("workloadentries",),
            verbs=(*READ, "create", "update", "patch", "delete"),
        ),
        Rule(
            groups=("networking.istio.io",),
            resources=("workloadentries/status", "serviceentries/status"),
            verbs=(*READ, "create", "update", "patch", "delete"),
        ),
        Rule(
            groups=("security.istio.io",),
            resources=("authorizationpolicies/status",),
            verbs=(*READ, "create", "update", "patch", "delete"),
        ),
        Rule(groups=("",), resources=("services/status",), verbs=(*READ, "update", "patch")),
        Rule(groups=("apiextensions.k8s.io",), resources=("customresourcedefinitions",), verbs=READ),
        Rule(
            groups=("",),
            resources=("pods", "nodes", "services", "namespaces", "endpoints", "secrets"),
            verbs=READ,
        ),
        Rule(groups=("",), resources=("configmaps",), verbs=(*READ, "create", "update")),
        Rule(groups=("discovery.k8s.io",), resources=("endpointslices",), verbs=READ),
        Rule(groups=("networking.k8s.io",), resources=("ingresses", "ingressclasses"), verbs=READ),
        Rule(groups=("networking.k8s.io",), resources=("ingresses/status",), verbs=("get", "update", "patch")),
        Rule(groups=("authentication.k8s.io",), resources=("tokenreviews",), verbs=("create",)),
        Rule(groups=("authorization.k8s.io",), resources=("subjectaccessreviews",), verbs=("create",)),
    ),
    namespace=(
        Rule(groups=("networking.istio.io",), resources=("gateways",), verbs=("create",)),
        Rule(groups=("",), resources=("secrets",), verbs=(*READ, "create", "update", "delete")),
        Rule(groups=("",), resources=("configmaps",), verbs=("delete",)),
        Rule(groups=("coordination.k8s.io",), resources=("leases",), verbs=("get", "create", "update", "patch")),
    ),
)
"""Upstream's roles without those for the Gateway API, multi-cluster and managed gateways, which are not used."""
