"""Permissions name what they permit."""

from __future__ import annotations

from policies.exemptions import WILDCARD
from policies.manifest import Manifest, dig, group_kind, items
from policies.rule import Rule

_GROUP = "rbac.authorization.k8s.io"
ROLES = frozenset({f"Role.{_GROUP}", f"ClusterRole.{_GROUP}"})
BINDINGS = frozenset({f"RoleBinding.{_GROUP}", f"ClusterRoleBinding.{_GROUP}"})
ALL_POWERFUL = "cluster-admin"


def check(manifest: Manifest) -> list[str]:
    """Refuse `*` anywhere in a rule, and bindings to the role that is one big `*`."""
    if group_kind(manifest) in BINDINGS:
        return [f"binds {ALL_POWERFUL}"] if dig(manifest, "roleRef", "name") == ALL_POWERFUL else []
    return [
        f"rules[{index}].{field} is {_quoted(wild)}"
        for index, rule in enumerate(items(dig(manifest, "rules")))
        for field in ("verbs", "resources", "apiGroups", "nonResourceURLs")
        if (wild := [value for value in items(dig(rule, field)) if isinstance(value, str) and "*" in value])
    ]


def _quoted(values: list[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


RBAC = Rule(
    name="rbac-wildcards",
    title="Roles name the verbs, resources and groups they permit.",
    why=(
        "A wildcard also permits what is added later: new verbs, new kinds, Secrets among them. One stolen "
        "token of such a component is the whole cluster."
    ),
    remedy=f"List each verb, resource and group, or say in {WILDCARD.annotation} why they cannot be known",
    kinds=ROLES | BINDINGS,
    exemptions=(WILDCARD,),
    check=check,
)
