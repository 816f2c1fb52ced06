"""RabbitMQ run by its cluster operator: nodes spread over zones, quorum queues by default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.apiextensions import CustomResource

from infra import versions
from infra.core import names
from infra.core.component import Component
from infra.core.placement import spread

if TYPE_CHECKING:
    from infra.settings.models.data.events import RabbitMqOperator

CLUSTER = "events"
"""Name of the cluster, and so of its Service."""

ADMIN_SECRET = f"{CLUSTER}-default-user"
"""Secret that the operator keeps the administrator in, as `username` and `password`."""

AMQP, AMQPS, MANAGEMENT, MANAGEMENT_TLS, METRICS = 5672, 5671, 15672, 15671, 15692
BETWEEN_NODES = (4369, 25672)
"""Ports that only the nodes themselves use: the port mapper's and the distribution's."""

PART_OF = "data"

CONFIG = """\
cluster_partition_handling = pause_minority
default_queue_type = quorum
queue_leader_locator = balanced
vm_memory_high_watermark.relative = 0.6
disk_free_limit.relative = 1.0
collect_statistics_interval = 10000
"""
"""A node that sees no majority stops rather than diverge; queues made without a type are replicated too."""


@dataclass(frozen=True, kw_only=True)
class RabbitClusterArgs:
    """What a RabbitMQ cluster is declared from.

    Args:
        settings: nodes, volumes and TLS.
        namespace: where it lives.
        block_class: StorageClass of its volumes where the settings name none.
    """

    settings: RabbitMqOperator
    namespace: pulumi.Input[str]
    block_class: str


class RabbitCluster(Component):
    """Owns the cluster, its disruption budget and its NetworkPolicy; owns neither the operator nor queues.

    Attributes:
        ready: what clients must wait for.

    Source: https://github.com/rabbitmq/cluster-operator, `docs/examples/production-ready` (v2.22.3).
    """

    group = "data"

    def __init__(self, name: str, args: RabbitClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        settings = args.settings
        metadata = k8s.meta.v1.ObjectMetaArgs(
            name=CLUSTER, namespace=args.namespace, labels=names.labels(CLUSTER, part_of=PART_OF)
        )
        selector = names.selector(CLUSTER)
        storage_class = settings.storage.storage_class or args.block_class
        secured = {"secretName": settings.tls_secret, "disableNonTLSListeners": True}
        policy = k8s.networking.v1.NetworkPolicy(
            CLUSTER,
            metadata=metadata,
            spec=_network(selector, clear=settings.tls_secret is None),
            opts=self.child(),
        )
        k8s.policy.v1.PodDisruptionBudget(
            CLUSTER,
            metadata=metadata,
            spec=k8s.policy.v1.PodDisruptionBudgetSpecArgs(
                max_unavailable=1, selector=k8s.meta.v1.LabelSelectorArgs(match_labels=selector)
            ),
            opts=self.child(),
        )
        cluster = CustomResource(
            CLUSTER,
            api_version="rabbitmq.com/v1beta1",
            kind="RabbitmqCluster",
            metadata=metadata,
            spec={
                "replicas": settings.replicas,
                "image": versions.RABBITMQ.reference,
                "resources": settings.resources.as_manifest(),
                "persistence": {"storage": str(settings.storage.size), "storageClassName": storage_class},
                "rabbitmq": {"additionalConfig": CONFIG},
                "override": {"statefulSet": {"spec": {"template": {"spec": _pod(selector)}}}},
                **({"tls": secured} if settings.tls_secret else {}),
            },
            opts=self.child(depends_on=[policy]),
        )
        self.ready: list[pulumi.Resource] = [cluster]
        self.register_outputs({})


def _pod(selector: dict[str, str]) -> dict[str, object]:
    """Return what the operator merges into its pods: their place, and the restricted pod security it leaves out."""
    confined = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    return {
        "priorityClassName": names.PLATFORM_PRIORITY,
        "topologySpreadConstraints": spread(selector),
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "rabbitmq", "securityContext": confined}],
        "initContainers": [{"name": "setup-container", "securityContext": confined}],
    }


def _network(selector: dict[str, str], *, clear: bool) -> k8s.networking.v1.NetworkPolicySpecArgs:
    own = k8s.meta.v1.LabelSelectorArgs(match_labels=selector)
    clients = (AMQP, MANAGEMENT) if clear else (AMQPS, MANAGEMENT_TLS)
    return k8s.networking.v1.NetworkPolicySpecArgs(
        pod_selector=own,
        policy_types=["Ingress"],
        ingress=[
            k8s.networking.v1.NetworkPolicyIngressRuleArgs(
                from_=[k8s.networking.v1.NetworkPolicyPeerArgs(pod_selector=own)], ports=_ports(*BETWEEN_NODES)
            ),
            k8s.networking.v1.NetworkPolicyIngressRuleArgs(
                from_=[k8s.networking.v1.NetworkPolicyPeerArgs(namespace_selector=k8s.meta.v1.LabelSelectorArgs())],
                ports=_ports(*clients, METRICS),
            ),
        ],
    )


def _ports(*numbers: int) -> list[k8s.networking.v1.NetworkPolicyPortArgs]:
    return [k8s.networking.v1.NetworkPolicyPortArgs(port=number, protocol="TCP") for number in numbers]
