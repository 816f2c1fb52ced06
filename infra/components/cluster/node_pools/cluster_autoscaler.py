"""Cluster Autoscaler for Cluster API: two replicas or more, of which one leads, on nodes that it does not manage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra import versions
from infra.core.availability import LeaderElected
from infra.core.parts import Container, Permissions, Port, Probe, Probes, Reach, Rule
from infra.core.workload import Workload, WorkloadArgs

if TYPE_CHECKING:
    import pulumi

    from infra.settings.models.autoscaler import ClusterApi

NAME = "cluster-autoscaler"
NAMESPACE = "cluster-autoscaler"
LEASE = "cluster-autoscaler"

_READ = ("get", "list", "watch")


def declare(
    settings: ClusterApi, *, part_of: str, namespace: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> Workload:
    """Declare Cluster Autoscaler, which reads pools' limits from their annotations.

    Source: https://github.com/kubernetes/autoscaler, `cluster-autoscaler/FAQ.md` and
    `cluster-autoscaler/cloudprovider/clusterapi/examples/deployment.yaml`, 1.36.1.
    """
    where = f"namespace={settings.namespace},clusterName={settings.cluster_name}"
    return Workload(
        NAME,
        WorkloadArgs(
            namespace=namespace,
            part_of=part_of,
            container=Container(
                image=versions.CLUSTER_AUTOSCALER,
                command=("/cluster-autoscaler",),
                arguments=(
                    "--cloud-provider=clusterapi",
                    f"--node-group-auto-discovery=clusterapi:{where}",
                    "--balance-similar-node-groups=true",
                    "--expander=least-waste",
                    "--enforce-node-group-min-size=true",
                    "--skip-nodes-with-local-storage=false",
                    "--address=:8085",
                ),
                ports=[
                    Port(
                        name="http-metrics",
                        number=8085,
                        service_port=8085,
                        reach=Reach.CLUSTER,
                        metrics_path="/metrics",
                    )
                ],
                probes=Probes(
                    readiness=Probe(path="/health-check", port="http-metrics"),
                    liveness=Probe(path="/health-check", port="http-metrics", period_seconds=20),
                ),
                user=65532,
            ),
            availability=LeaderElected(
                replicas=settings.replicas,
                arguments=(
                    "--leader-elect=true",
                    f"--leader-elect-resource-name={LEASE}",
                    f"--leader-elect-resource-namespace={NAMESPACE}",
                ),
                lease=LEASE,
            ),
            resources=settings.resources,
            permissions=_permissions(settings),
            system_nodes_only=True,
        ),
        opts=opts,
    )


def _permissions(settings: ClusterApi) -> Permissions:
    sets = ("machinedeployments", "machinepools", "machinesets")
    templates = f"{settings.infrastructure.kind.lower()}s"
    return Permissions(
        cluster=(
            Rule(groups=("",), resources=("events", "endpoints"), verbs=("create", "patch")),
            Rule(groups=("",), resources=("nodes",), verbs=("get", "list", "update", "watch")),
            Rule(
                groups=("",),
                resources=(
                    "namespaces",
                    "persistentvolumeclaims",
                    "persistentvolumes",
                    "pods",
                    "replicationcontrollers",
                    "services",
                ),
                verbs=_READ,
            ),
            Rule(groups=("",), resources=("pods/eviction",), verbs=("create",)),
            Rule(groups=("",), resources=("pods/status",), verbs=("update",)),
            Rule(groups=("apps",), resources=("daemonsets", "replicasets", "statefulsets"), verbs=_READ),
            Rule(groups=("batch",), resources=("cronjobs", "jobs"), verbs=_READ),
            Rule(groups=("cluster.x-k8s.io",), resources=("machines", *sets), verbs=("get", "list", "update", "watch")),
            Rule(
                groups=("cluster.x-k8s.io",),
                resources=tuple(f"{kind}/scale" for kind in sets),
                verbs=("get", "patch", "update"),
            ),
            Rule(groups=(settings.infrastructure.group,), resources=(templates,), verbs=_READ),
            Rule(groups=("policy",), resources=("poddisruptionbudgets",), verbs=_READ),
            Rule(
                groups=("resource.k8s.io",),
                resources=("deviceclasses", "resourceclaims", "resourceslices"),
                verbs=_READ,
            ),
            Rule(
                groups=("storage.k8s.io",),
                resources=("csidrivers", "csinodes", "csistoragecapacities", "storageclasses", "volumeattachments"),
                verbs=_READ,
            ),
        ),
        namespace=(Rule(groups=("",), resources=("configmaps",), verbs=("create", "delete", "update", *_READ)),),
    )
