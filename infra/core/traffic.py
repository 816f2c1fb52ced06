"""What lets traffic reach a workload, and what stops the rest: its Service and NetworkPolicy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi_kubernetes as k8s

from infra.core import names
from infra.core.parts import Reach

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pulumi

    from infra.core.parts import Port


def service(
    name: str,
    namespace: pulumi.Input[str],
    ports: Sequence[Port],
    labels: Mapping[str, str],
    opts: pulumi.ResourceOptions,
    *,
    kind: str = "ClusterIP",
    annotations: Mapping[str, str] | None = None,
    allowed_cidrs: Sequence[str] = (),
) -> k8s.core.v1.Service | None:
    """Return the Service that offers the ports which name a service port; None when none does.

    Args:
        name: the workload and the Service.
        namespace: where both live.
        ports: the container's ports.
        labels: the Service's labels.
        opts: its options.
        kind: ClusterIP, NodePort or LoadBalancer.
        annotations: what a cloud's load balancer reads.
        allowed_cidrs: source addresses a load balancer accepts; empty means all.
    """
    offered = [(port, port.service_port) for port in ports if port.service_port]
    if not offered:
        return None
    return k8s.core.v1.Service(
        name,
        metadata=k8s.meta.v1.ObjectMetaArgs(
            name=name, namespace=namespace, labels=dict(labels), annotations=dict(annotations or {}) or None
        ),
        spec=k8s.core.v1.ServiceSpecArgs(
            type=kind,
            selector=names.selector(name),
            ports=[
                k8s.core.v1.ServicePortArgs(name=port.name, port=number, target_port=port.name, protocol="TCP")
                for port, number in offered
            ],
            load_balancer_source_ranges=list(allowed_cidrs) or None,
            external_traffic_policy="Local" if kind == "LoadBalancer" else None,
        ),
        opts=opts,
    )


def network_policy(
    name: str,
    namespace: pulumi.Input[str],
    ports: Sequence[Port],
    labels: Mapping[str, str],
    opts: pulumi.ResourceOptions,
) -> k8s.networking.v1.NetworkPolicy:
    """Return the policy that admits to each port just those its reach names."""
    rules: list[k8s.networking.v1.NetworkPolicyIngressRuleArgs] = []
    for reach in (Reach.NAMESPACE, Reach.CLUSTER, Reach.ANYWHERE):
        open_ports = [port for port in ports if port.reach is reach]
        if open_ports:
            rules.append(
                k8s.networking.v1.NetworkPolicyIngressRuleArgs(
                    from_=_peers(reach),
                    ports=[
                        k8s.networking.v1.NetworkPolicyPortArgs(port=port.number, protocol="TCP") for port in open_ports
                    ],
                )
            )
    return k8s.networking.v1.NetworkPolicy(
        name,
        metadata=k8s.meta.v1.ObjectMetaArgs(name=name, namespace=namespace, labels=dict(labels)),
        spec=k8s.networking.v1.NetworkPolicySpecArgs(
            pod_selector=k8s.meta.v1.LabelSelectorArgs(match_labels=names.selector(name)),
            policy_types=["Ingress"],
            ingress=rules,
        ),
        opts=opts,
    )


def _peers(reach: Reach) -> list[k8s.networking.v1.NetworkPolicyPeerArgs] | None:
    everything = k8s.meta.v1.LabelSelectorArgs()
    match reach:
        case Reach.NAMESPACE:
            return [k8s.networking.v1.NetworkPolicyPeerArgs(pod_selector=everything)]
        case Reach.CLUSTER:
            return [k8s.networking.v1.NetworkPolicyPeerArgs(namespace_selector=everything)]
        case _:
            return None
