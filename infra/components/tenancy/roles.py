"""The roles a team's members are given: kubeflow-admin, kubeflow-edit and kubeflow-view."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s

from infra.core import names
from infra.core.component import Component
from infra.core.parts import Rule

PART_OF = "tenancy"
ROLES = ("kubeflow-admin", "kubeflow-edit", "kubeflow-view")

_READ = ("get", "list", "watch")
_CHANGE = ("create", "delete", "deletecollection", "patch", "update")

BASE_RULES: dict[str, tuple[Rule, ...]] = {
    "kubeflow-admin": (
        Rule(
            groups=("rbac.authorization.k8s.io",),
            resources=("roles", "rolebindings"),
            verbs=(*_READ, *_CHANGE),
        ),
        Rule(groups=("authorization.k8s.io",), resources=("localsubjectaccessreviews",), verbs=("create",)),
    ),
    "kubeflow-edit": (
        Rule(
            groups=("",),
            resources=(
                "configmaps",
                "persistentvolumeclaims",
                "pods",
                "secrets",
                "serviceaccounts",
                "services",
            ),
            verbs=(*_READ, *_CHANGE),
        ),
        Rule(groups=("",), resources=("pods/exec", "pods/portforward", "pods/attach"), verbs=("create", "get")),
        Rule(
            groups=("apps",),
            resources=(
                "deployments",
                "deployments/scale",
                "replicasets",
                "replicasets/scale",
                "statefulsets",
                "statefulsets/scale",
            ),
            verbs=(*_READ, *_CHANGE),
        ),
        Rule(groups=("batch",), resources=("cronjobs", "jobs"), verbs=(*_READ, *_CHANGE)),
        Rule(groups=("autoscaling",), resources=("horizontalpodautoscalers",), verbs=(*_READ, *_CHANGE)),
        Rule(groups=("policy",), resources=("poddisruptionbudgets",), verbs=(*_READ, *_CHANGE)),
    ),
    "kubeflow-view": (
        Rule(
            groups=("",),
            resources=(
                "configmaps",
                "endpoints",
                "events",
                "limitranges",
                "persistentvolumeclaims",
                "pods",
                "pods/log",
                "resourcequotas",
                "serviceaccounts",
                "services",
            ),
            verbs=_READ,
        ),
        Rule(groups=("apps",), resources=("deployments", "replicasets", "statefulsets"), verbs=_READ),
        Rule(groups=("batch",), resources=("cronjobs", "jobs"), verbs=_READ),
        Rule(groups=("autoscaling",), resources=("horizontalpodautoscalers",), verbs=_READ),
        Rule(groups=("policy",), resources=("poddisruptionbudgets",), verbs=_READ),
    ),
}
"""What each role adds of Kubernetes itself. A higher role includes the lower ones; secrets are for editors only.

Quotas, limits and network policies are not among them: a team may not lift what the platform set.
"""


class TeamRoles(Component):
    """Owns the three roles; each component adds its own kinds to them by label, and each team binds them.

    Source: https://github.com/kubeflow/community-distribution, tag 26.03.1-rc.2, `common/kubeflow-roles`.
    """

    group = "tenancy"

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        for level, role in enumerate(ROLES):
            labels = names.labels(role, part_of=PART_OF)
            k8s.rbac.v1.ClusterRole(
                role,
                metadata=k8s.meta.v1.ObjectMetaArgs(name=role, labels=labels | aggregated(ROLES[:level])),
                aggregation_rule=k8s.rbac.v1.AggregationRuleArgs(
                    cluster_role_selectors=[k8s.meta.v1.LabelSelectorArgs(match_labels=aggregated((role,)))]
                ),
                opts=self.child(),
            )
            base = f"{role}-kubernetes"
            k8s.rbac.v1.ClusterRole(
                base,
                metadata=k8s.meta.v1.ObjectMetaArgs(name=base, labels=labels | aggregated((role,))),
                rules=[
                    k8s.rbac.v1.PolicyRuleArgs(
                        api_groups=list(rule.groups), resources=list(rule.resources), verbs=list(rule.verbs)
                    )
                    for rule in BASE_RULES[role]
                ],
                opts=self.child(),
            )
        self.register_outputs({})


def aggregated(roles: tuple[str, ...]) -> dict[str, str]:
    """Return the labels that add a ClusterRole's rules to the named roles."""
    return {f"rbac.authorization.kubeflow.org/aggregate-to-{role}": "true" for role in roles}
