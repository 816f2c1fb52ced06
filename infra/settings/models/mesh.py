"""The service mesh: its control plane and the way in."""

from __future__ import annotations

from typing import Literal

from infra.settings.models.base import Section
from infra.settings.models.resources import Autoscaling, Resources
from infra.settings.scalars import CidrBlock, DnsName, LabelKey


class Istiod(Section):
    """Istio's control plane."""

    autoscaling: Autoscaling
    """How many replicas; at rest at least 2, because sidecars cannot start without one."""

    resources: Resources
    """Of each replica; memory grows with the number of services and sidecars."""


class Ingress(Section):
    """The gateway all users come in by."""

    autoscaling: Autoscaling
    """How many replicas; at rest at least 2, because every user's request passes one."""

    resources: Resources
    """Of each replica."""

    service_type: Literal["LoadBalancer", "NodePort", "ClusterIP"]
    """How the gateway is reached: by a load balancer that the cluster makes, by a port of every node (for a
    balancer of your own), or only from inside the cluster."""

    annotations: dict[LabelKey, str]
    """Annotations of the gateway's Service, which tell the load balancer's controller what to make."""

    allowed_cidrs: tuple[CidrBlock, ...]
    """Addresses that a load balancer lets in. At least one with `serviceType: LoadBalancer`; `0.0.0.0/0` is
    everyone, and has to be written to be meant. Without a load balancer the network in front decides."""


class Mesh(Section):
    """Istio: mutual TLS, authorization and the ingress gateway."""

    istiod: Istiod
    """Istio's control plane."""

    ingress: Ingress
    """The gateway all users come in by."""

    domain: DnsName
    """Host name of the platform; the gateway answers to it and to names below it."""
