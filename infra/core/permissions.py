"""ServiceAccount and RBAC of a workload, leader-election lease included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi_kubernetes as k8s

from infra.core.availability import LeaderElected
from infra.core.parts import Permissions, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pulumi

    from infra.core.availability import Availability

RBAC = "rbac.authorization.k8s.io"


def with_lease(permissions: Permissions, availability: Availability) -> Permissions:
    """Return the permissions plus what leader election needs: its own Lease, and events that tell of it.

    `create` cannot be limited to a name (the API server does not know it yet), the other verbs are.
    """
    if not isinstance(availability, LeaderElected):
        return permissions
    lease = (
        Rule(groups=("coordination.k8s.io",), resources=("leases",), verbs=("create",)),
        Rule(
            groups=("coordination.k8s.io",),
            resources=("leases",),
            verbs=("get", "update", "patch"),
            names=(availability.lease,),
        ),
        Rule(groups=("",), resources=("events",), verbs=("create", "patch")),
    )
    return Permissions(cluster=permissions.cluster, namespace=(*permissions.namespace, *lease))


class Account:
    """A workload's ServiceAccount, its roles and their bindings.

    Attributes:
        resources: everything made, for workloads to depend on.
    """

    def __init__(
        self,
        name: str,
        namespace: pulumi.Input[str],
        permissions: Permissions,
        labels: Mapping[str, str],
        opts: pulumi.ResourceOptions,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        metadata = k8s.meta.v1.ObjectMetaArgs(name=name, namespace=namespace, labels=dict(labels))
        wide = k8s.meta.v1.ObjectMetaArgs(name=name, labels=dict(labels))
        subject = k8s.rbac.v1.SubjectArgs(kind="ServiceAccount", name=name, namespace=namespace)
        self.resources: list[pulumi.Resource] = [
            k8s.core.v1.ServiceAccount(
                name,
                metadata=k8s.meta.v1.ObjectMetaArgs(
                    name=name, namespace=namespace, labels=dict(labels), annotations=dict(annotations or {}) or None
                ),
                automount_service_account_token=False,
                opts=opts,
            )
        ]
        if permissions.cluster:
            self.resources += [
                k8s.rbac.v1.ClusterRole(name, metadata=wide, rules=_rules(permissions.cluster), opts=opts),
                k8s.rbac.v1.ClusterRoleBinding(
                    name,
                    metadata=wide,
                    role_ref=k8s.rbac.v1.RoleRefArgs(api_group=RBAC, kind="ClusterRole", name=name),
                    subjects=[subject],
                    opts=opts,
                ),
            ]
        if permissions.namespace:
            self.resources += [
                k8s.rbac.v1.Role(name, metadata=metadata, rules=_rules(permissions.namespace), opts=opts),
                k8s.rbac.v1.RoleBinding(
                    name,
                    metadata=metadata,
                    role_ref=k8s.rbac.v1.RoleRefArgs(api_group=RBAC, kind="Role", name=name),
                    subjects=[subject],
                    opts=opts,
                ),
            ]


def _rules(rules: Sequence[Rule]) -> list[k8s.rbac.v1.PolicyRuleArgs]:
    return [
        k8s.rbac.v1.PolicyRuleArgs(
            api_groups=list(rule.groups),
            resources=list(rule.resources),
            verbs=list(rule.verbs),
            resource_names=list(rule.names) or None,
        )
        for rule in rules
    ]
