"""The one way to declare what runs on every node of a kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra.core import names, pod, traffic
from infra.core.component import Component
from infra.core.parts import Container, Permissions, Privileges
from infra.core.permissions import Account

if TYPE_CHECKING:
    from infra.settings.models.resources import Resources


NODE_CRITICAL = "system-node-critical"
"""Kubernetes' own PriorityClass of what a node cannot do without; above the platform's."""


@dataclass(frozen=True, kw_only=True)
class NodeAgentArgs:
    """What a node agent is declared from.

    Args:
        namespace: where it lives.
        part_of: the group of components it belongs to.
        container: what runs on each node.
        resources: requests and limits of the container.
        affinity: the nodes it runs on; None means all.
        tolerations: the taints it accepts.
        permissions: what its ServiceAccount may do.
        privileges: what it needs of the node, with the reason.
        no_probes_reason: why its health cannot be probed, where its container has no probes.
        runtime_class: the RuntimeClass, where the nodes' default will not do.
        init: what runs to its end before the container starts; its volumes are among the container's.
        pod_annotations: annotations of the pods, such as the digest of the files they read.
    """

    namespace: pulumi.Input[str]
    part_of: str
    container: Container
    resources: Resources
    affinity: k8s.core.v1.AffinityArgs | None = None
    tolerations: Sequence[k8s.core.v1.TolerationArgs] = ()
    permissions: Permissions = field(default_factory=Permissions)
    privileges: Privileges | None = None
    no_probes_reason: str | None = None
    runtime_class: str | None = None
    init: Container | None = None
    pod_annotations: Mapping[str, str] = field(default_factory=dict[str, str])


class NodeAgent(Component):
    """A DaemonSet, rolled one node at a time, that outranks what it serves.

    Owns the DaemonSet, its ServiceAccount, RBAC and NetworkPolicy. Needs no PodDisruptionBudget: draining a node
    ends its agent with it.

    Attributes:
        daemon_set: the DaemonSet, to depend on.
    """

    group = "core"

    def __init__(self, name: str, args: NodeAgentArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        labels = names.labels(name, part_of=args.part_of, version=args.container.image.version)
        account = Account(name, args.namespace, args.permissions, labels, self.child())
        traffic.network_policy(name, args.namespace, args.container.ports, labels, self.child())
        self.daemon_set = k8s.apps.v1.DaemonSet(
            name,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=name,
                namespace=args.namespace,
                labels=labels,
                annotations=_reasons(args) or None,
            ),
            spec=k8s.apps.v1.DaemonSetSpecArgs(
                revision_history_limit=5,
                selector=k8s.meta.v1.LabelSelectorArgs(match_labels=names.selector(name)),
                update_strategy=k8s.apps.v1.DaemonSetUpdateStrategyArgs(
                    type="RollingUpdate",
                    rolling_update=k8s.apps.v1.RollingUpdateDaemonSetArgs(max_unavailable=1),
                ),
                template=pod.template(
                    name,
                    args.container,
                    labels=labels,
                    resources=args.resources,
                    service_account=name,
                    api_access=bool(args.permissions),
                    privileges=args.privileges,
                    spread=False,
                    tolerations=args.tolerations,
                    affinity=args.affinity or k8s.core.v1.AffinityArgs(),
                    priority=NODE_CRITICAL,
                    runtime_class=args.runtime_class,
                    init=args.init,
                    annotations=args.pod_annotations,
                ),
            ),
            opts=self.child(depends_on=account.resources),
        )
        self.register_outputs({})


def _reasons(args: NodeAgentArgs) -> Mapping[str, str]:
    reasons: dict[str, str] = {}
    if args.privileges:
        reasons[names.PRIVILEGED_REASON] = args.privileges.reason
    if args.no_probes_reason:
        reasons[names.NO_PROBES_REASON] = args.no_probes_reason
    return reasons
