"""The one way to declare a workload that serves the platform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra.core import names, pod, priorities, traffic
from infra.core.availability import Availability, LeaderElected, Replicated, Singleton, describe
from infra.core.component import Component
from infra.core.disruption import disruption_budget
from infra.core.parts import Container, Permissions, Privileges
from infra.core.permissions import Account, with_lease
from infra.core.priorities import Priority

if TYPE_CHECKING:
    from infra.settings.models.resources import Resources


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """How a workload's Service is offered outside the cluster.

    Args:
        kind: ClusterIP, NodePort or LoadBalancer.
        annotations: what a cloud's load balancer reads.
        allowed_cidrs: source addresses it accepts; empty means all.
    """

    kind: str = "ClusterIP"
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    allowed_cidrs: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class WorkloadArgs:
    """What a workload is declared from.

    Args:
        namespace: where it lives.
        part_of: the group of components it belongs to, for `app.kubernetes.io/part-of`.
        container: what runs.
        availability: how it survives losing a pod, a node or a zone.
        resources: requests and limits of the container.
        permissions: what its ServiceAccount may do; the lease of leader election is added.
        privileges: what it needs beyond restricted pod security, with the reason.
        exposure: how its Service is offered.
        priority: who gives way to it when nodes run short; the platform's own workloads by default.
        pod_labels: labels the pods carry besides the recommended ones.
        pod_annotations: annotations of the pods, such as the digest of the files they read.
        system_nodes_only: whether it runs on the system pools or nowhere, because it removes the other nodes.
        account_annotations: annotations of the ServiceAccount, by which a cloud grants it a role.
    """

    namespace: pulumi.Input[str]
    part_of: str
    container: Container
    availability: Availability
    resources: Resources
    permissions: Permissions = field(default_factory=Permissions)
    privileges: Privileges | None = None
    exposure: Exposure = field(default_factory=Exposure)
    priority: Priority = priorities.PLATFORM
    pod_labels: Mapping[str, str] = field(default_factory=dict[str, str])
    pod_annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    system_nodes_only: bool = False
    account_annotations: Mapping[str, str] = field(default_factory=dict[str, str])


class Workload(Component):
    """A Deployment and all that its availability and safety ask for.

    Owns the Deployment, ServiceAccount, RBAC, PodDisruptionBudget, NetworkPolicy and, where it applies, the Service
    and HorizontalPodAutoscaler. Owns neither the namespace nor what the workload itself creates at run time.

    Attributes:
        deployment: the Deployment, to depend on.
        service: the Service; None when no port names a service port.
    """

    group = "core"

    def __init__(self, name: str, args: WorkloadArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        declared = _with_leader_election(args.container, args.availability)
        labels = names.labels(name, part_of=args.part_of, version=declared.image.version)
        permissions = with_lease(args.permissions, args.availability)
        account = Account(name, args.namespace, permissions, labels, self.child(), args.account_annotations)
        traffic.network_policy(name, args.namespace, declared.ports, labels, self.child())
        template = pod.template(
            name,
            declared,
            labels=labels | dict(args.pod_labels),
            resources=args.resources,
            service_account=name,
            api_access=bool(permissions),
            privileges=args.privileges,
            spread=not isinstance(args.availability, Singleton),
            affinity=pod.system_pool_only() if args.system_nodes_only else None,
            priority=args.priority.name,
            annotations=args.pod_annotations,
        )
        self.deployment = k8s.apps.v1.Deployment(
            name,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=name,
                namespace=args.namespace,
                labels=labels,
                annotations=_reasons(args.availability, args.privileges),
            ),
            spec=k8s.apps.v1.DeploymentSpecArgs(
                replicas=_replicas(args.availability),
                revision_history_limit=5,
                selector=k8s.meta.v1.LabelSelectorArgs(match_labels=names.selector(name)),
                strategy=_strategy(args.availability),
                template=template,
            ),
            opts=self.child(depends_on=account.resources),
        )
        self.service = traffic.service(
            name,
            args.namespace,
            declared.ports,
            labels,
            self.child(depends_on=[self.deployment]),
            kind=args.exposure.kind,
            annotations=args.exposure.annotations,
            allowed_cidrs=args.exposure.allowed_cidrs,
        )
        self._guard(name, args.namespace, args.availability, labels)
        self.register_outputs({"availability": describe(args.availability)})

    def _guard(
        self,
        name: str,
        namespace: pulumi.Input[str],
        availability: Availability,
        labels: Mapping[str, str],
    ) -> None:
        metadata = k8s.meta.v1.ObjectMetaArgs(name=name, namespace=namespace, labels=dict(labels))
        disruption_budget(name, namespace, labels, self.child())
        if isinstance(availability, Replicated) and availability.up_to:
            k8s.autoscaling.v2.HorizontalPodAutoscaler(
                name,
                metadata=metadata,
                spec=k8s.autoscaling.v2.HorizontalPodAutoscalerSpecArgs(
                    min_replicas=availability.replicas,
                    max_replicas=availability.up_to,
                    scale_target_ref=k8s.autoscaling.v2.CrossVersionObjectReferenceArgs(
                        api_version="apps/v1", kind="Deployment", name=name
                    ),
                    metrics=[
                        k8s.autoscaling.v2.MetricSpecArgs(
                            type="Resource",
                            resource=k8s.autoscaling.v2.ResourceMetricSourceArgs(
                                name="cpu",
                                target=k8s.autoscaling.v2.MetricTargetArgs(
                                    type="Utilization", average_utilization=availability.target_cpu_percent
                                ),
                            ),
                        )
                    ],
                ),
                opts=self.child(depends_on=[self.deployment]),
            )


def _with_leader_election(container: Container, availability: Availability) -> Container:
    if not isinstance(availability, LeaderElected):
        return container
    return replace(container, arguments=(*container.arguments, *availability.arguments))


def _replicas(availability: Availability) -> int | None:
    """Leave the count to the autoscaler where there is one: two owners would undo each other."""
    match availability:
        case Replicated(up_to=None, replicas=count) | LeaderElected(replicas=count):
            return count
        case Replicated():
            return None
        case Singleton():
            return 1


def _strategy(availability: Availability) -> k8s.apps.v1.DeploymentStrategyArgs:
    if isinstance(availability, Singleton):
        return k8s.apps.v1.DeploymentStrategyArgs(type="Recreate")
    return k8s.apps.v1.DeploymentStrategyArgs(
        type="RollingUpdate",
        rolling_update=k8s.apps.v1.RollingUpdateDeploymentArgs(max_unavailable=0, max_surge=1),
    )


def _reasons(availability: Availability, privileges: Privileges | None) -> dict[str, str]:
    annotations = {names.AVAILABILITY: describe(availability)}
    if isinstance(availability, Singleton):
        annotations[names.SINGLETON_REASON] = availability.reason
    if privileges:
        annotations[names.PRIVILEGED_REASON] = privileges.reason
    return annotations
