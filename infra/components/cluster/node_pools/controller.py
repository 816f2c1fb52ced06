"""Karpenter itself: two replicas or more, of which one leads, on nodes that it does not manage."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pulumi_kubernetes as k8s

from infra import versions
from infra.components.cluster.node_pools import aws
from infra.core import names
from infra.core.availability import LeaderElected
from infra.core.parts import (
    Container,
    FromField,
    FromResource,
    Image,
    Permissions,
    Probe,
    Probes,
    Rule,
    Volume,
    health,
    metrics,
)
from infra.core.workload import Workload, WorkloadArgs
from infra.settings.models.autoscaler import Aws, Kwok

if TYPE_CHECKING:
    import pulumi

    from infra.core.parts import EnvironmentValue
    from infra.settings.models.autoscaler import Karpenter

NAME = "karpenter"
NAMESPACE = "karpenter"
LEASE = "karpenter-leader-election"
MACHINES = "karpenter-machines"
SHORTAGES = "karpenter-shortages"
INTERRUPTIONS = "karpenter-interruptions"
"""ConfigMaps that a user of the sandbox may make, to see what happens when machines run out or are wanted back."""

_FILES = "/var/lib/karpenter"
_READ = ("get", "list", "watch")


def declare(
    settings: Karpenter,
    *,
    provider: Aws | Kwok,
    region: str,
    part_of: str,
    namespace: pulumi.Input[str],
    catalog: str,
    opts: pulumi.ResourceOptions,
) -> Workload:
    """Declare Karpenter.

    Args:
        settings: replicas, resources and what it may repair.
        provider: whose machines it buys.
        region: region of the cluster.
        part_of: the group it belongs to.
        namespace: where it runs.
        catalog: the simulated machines for sale; not read for real ones.
        opts: options of the children.

    Source: https://github.com/aws/karpenter-provider-aws, `charts/karpenter`, and
    https://github.com/kubernetes-sigs/karpenter, `kwok/charts` and `pkg/operator/options/options.go`, v1.14.1.
    """
    image: Image = versions.KARPENTER_AWS
    environment: dict[str, EnvironmentValue] = _environment(settings)
    volumes: list[Volume] = []
    annotations: dict[str, str] = {}
    account: dict[str, str] = {}
    match provider:
        case Aws():
            environment |= aws.environment(provider, region)
            account["eks.amazonaws.com/role-arn"] = provider.controller_role
            group, resource = "karpenter.k8s.aws", "ec2nodeclasses"
        case Kwok():
            image = versions.KARPENTER_KWOK
            group, resource = "karpenter.kwok.sh", "kwoknodeclasses"
            annotations["flotilla.dev/machines-digest"] = hashlib.sha256(catalog.encode()).hexdigest()[:16]
            environment |= {
                "INSTANCE_TYPES_FILE_PATH": f"{_FILES}/machines/instance-types.json",
                "SHORTAGES_FILE_PATH": f"{_FILES}/shortages/shortages.json",
                "INTERRUPTIONS_FILE_PATH": f"{_FILES}/interruptions/interruptions.json",
                "INTERRUPTION_NOTICE": provider.interruption_notice,
                "REPAIR_AFTER": provider.repair_after,
            }
            volumes = [
                Volume(name="machines", path=f"{_FILES}/machines", config_map=MACHINES),
                Volume(name="shortages", path=f"{_FILES}/shortages", config_map=SHORTAGES, optional=True),
                Volume(name="interruptions", path=f"{_FILES}/interruptions", config_map=INTERRUPTIONS, optional=True),
            ]
            k8s.core.v1.ConfigMap(
                MACHINES,
                metadata=k8s.meta.v1.ObjectMetaArgs(
                    name=MACHINES, namespace=namespace, labels=names.labels(NAME, part_of=part_of)
                ),
                data={"instance-types.json": catalog},
                opts=opts,
            )
    return Workload(
        NAME,
        WorkloadArgs(
            namespace=namespace,
            part_of=part_of,
            container=Container(
                image=image,
                environment=environment,
                ports=[metrics(8080, service_port=8080), health(8081)],
                probes=Probes(
                    startup=Probe(path="/readyz", port="http-health", period_seconds=2, failures=60),
                    readiness=Probe(path="/readyz", port="http-health"),
                    liveness=Probe(path="/healthz", port="http-health", period_seconds=20),
                ),
                volumes=volumes,
                user=65532,
            ),
            availability=LeaderElected(
                replicas=settings.replicas, arguments=(f"--leader-election-name={LEASE}",), lease=LEASE
            ),
            resources=settings.resources,
            permissions=_permissions(group, resource, simulated=isinstance(provider, Kwok)),
            pod_annotations=annotations,
            account_annotations=account,
            system_nodes_only=True,
        ),
        opts=opts,
    )


def _environment(settings: Karpenter) -> dict[str, EnvironmentValue]:
    return {
        "METRICS_PORT": "8080",
        "HEALTH_PROBE_PORT": "8081",
        "SYSTEM_NAMESPACE": FromField(path="metadata.namespace"),
        "MEMORY_LIMIT": FromResource(resource="limits.memory"),
        "CPU_REQUESTS": str(int(settings.resources.requests.cpu.value * 1000)),
        "FEATURE_GATES": f"NodeRepair={str(settings.node_repair).lower()}",
    }


def _permissions(group: str, resource: str, *, simulated: bool) -> Permissions:
    """Return upstream's roles. Who simulates machines also has to make their Node objects."""
    pools, claims, overlays = "nodepools", "nodeclaims", "nodeoverlays"
    kinds = (pools, claims, overlays)
    nodes = ("create", "delete", "patch", "update") if simulated else ("delete", "patch", "update")
    return Permissions(
        cluster=(
            Rule(groups=("",), resources=("events",), verbs=("create", "patch", *_READ)),
            Rule(
                groups=("",),
                resources=(
                    "namespaces",
                    "nodes",
                    "persistentvolumeclaims",
                    "persistentvolumes",
                    "pods",
                    "podtemplates",
                    "replicationcontrollers",
                ),
                verbs=_READ,
            ),
            Rule(groups=("",), resources=("nodes",), verbs=nodes),
            Rule(groups=("",), resources=("pods",), verbs=("delete",)),
            Rule(groups=("",), resources=("pods/eviction",), verbs=("create",)),
            Rule(groups=("apps",), resources=("daemonsets", "deployments", "replicasets", "statefulsets"), verbs=_READ),
            Rule(groups=("karpenter.sh",), resources=(*kinds, *(f"{kind}/status" for kind in kinds)), verbs=_READ),
            Rule(
                groups=("karpenter.sh",),
                resources=(claims, f"{claims}/status"),
                verbs=("create", "delete", "patch", "update"),
            ),
            Rule(
                groups=("karpenter.sh",),
                resources=(pools, f"{pools}/status", f"{overlays}/status"),
                verbs=("patch", "update"),
            ),
            Rule(groups=(group,), resources=(resource,), verbs=_READ),
            Rule(groups=(group,), resources=(resource, f"{resource}/status"), verbs=("patch", "update")),
            Rule(groups=("policy",), resources=("poddisruptionbudgets",), verbs=_READ),
            Rule(
                groups=("storage.k8s.io",), resources=("csinodes", "storageclasses", "volumeattachments"), verbs=_READ
            ),
        )
    )
