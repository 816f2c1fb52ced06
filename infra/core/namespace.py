"""A namespace of the platform: restricted pods, and no connection that was not declared."""

from __future__ import annotations

from typing import Literal

import pulumi
import pulumi_kubernetes as k8s

from infra.core import names
from infra.core.component import Component

PodSecurity = Literal["restricted", "baseline", "privileged"]


class Namespace(Component):
    """Owns the namespace and its default-deny NetworkPolicy; each workload admits its own traffic.

    Attributes:
        name: the namespace's name as an output, so that what uses it waits for it.
    """

    group = "core"

    def __init__(
        self,
        name: str,
        *,
        part_of: str,
        pod_security: PodSecurity = "restricted",
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts)
        labels = names.labels(name, part_of=part_of)
        namespace = k8s.core.v1.Namespace(
            name,
            metadata=k8s.meta.v1.ObjectMetaArgs(name=name, labels=labels | security_labels(pod_security)),
            opts=self.child(),
        )
        self.name: pulumi.Output[str] = namespace.metadata.name
        k8s.networking.v1.NetworkPolicy(
            f"{name}-default-deny",
            metadata=k8s.meta.v1.ObjectMetaArgs(name="default-deny", namespace=self.name, labels=labels),
            spec=k8s.networking.v1.NetworkPolicySpecArgs(
                pod_selector=k8s.meta.v1.LabelSelectorArgs(), policy_types=["Ingress"]
            ),
            opts=self.child(),
        )
        self.register_outputs({"name": self.name})


def security_labels(enforced: PodSecurity) -> dict[str, str]:
    """Return the labels that enforce a pod security level and warn of what falls short of restricted."""
    prefix = "pod-security.kubernetes.io"
    return {
        f"{prefix}/enforce": enforced,
        f"{prefix}/warn": "restricted",
        f"{prefix}/audit": "restricted",
    }
