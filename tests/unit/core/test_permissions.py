"""ServiceAccount and RBAC: least privilege, with the lease of leader election and no other."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from infra.core.availability import Availability, LeaderElected, Replicated, Singleton
from infra.core.parts import Permissions, Rule
from infra.core.permissions import Account, with_lease
from tests.unit.core.recording import Recording, record

PODS = Rule(groups=("",), resources=("pods",), verbs=("get",))
JOBS = Rule(groups=("batch",), resources=("jobs",), verbs=("create",), names=("one", "two"))
ELECTED = LeaderElected(replicas=2, arguments=(), lease="boat-leader")
NOT_ELECTED = [Replicated(replicas=2), Replicated(replicas=2, up_to=3), Singleton(reason="it would do harm")]


def account(permissions: Permissions) -> Recording:
    return record(lambda: Account("boat", "harbour", permissions, {"app": "boat"}, pulumi.ResourceOptions()))


def leases(permissions: Permissions) -> set[tuple[str, tuple[str, ...]]]:
    """Return each verb on leases with the names it is limited to."""
    return {
        (verb, rule.names)
        for rule in (*permissions.cluster, *permissions.namespace)
        if "leases" in rule.resources
        for verb in rule.verbs
    }


def test_lease_is_limited_to_its_name_except_for_create() -> None:
    assert leases(with_lease(Permissions(), ELECTED)) == {
        ("create", ()),
        ("get", ("boat-leader",)),
        ("update", ("boat-leader",)),
        ("patch", ("boat-leader",)),
    }


def test_lease_is_permitted_in_its_own_namespace_only() -> None:
    permissions = with_lease(Permissions(cluster=[PODS], namespace=[JOBS]), ELECTED)

    assert permissions.cluster == [PODS]
    assert permissions.namespace[0] == JOBS


def test_leader_may_tell_of_its_election() -> None:
    told = Rule(groups=("",), resources=("events",), verbs=("create", "patch"))

    assert told in with_lease(Permissions(), ELECTED).namespace


@pytest.mark.parametrize("availability", NOT_ELECTED)
def test_no_lease_is_permitted_without_leader_election(availability: Availability) -> None:
    permissions = Permissions(cluster=[PODS])

    assert with_lease(permissions, availability) is permissions


def test_account_without_permissions_has_no_role_and_no_token() -> None:
    recording = account(Permissions())

    assert recording.kinds() == ["ServiceAccount"]
    assert recording.one("ServiceAccount")["automountServiceAccountToken"] is False


@pytest.mark.parametrize(
    ("permissions", "kinds"),
    [
        (Permissions(cluster=[PODS]), ["ClusterRole", "ClusterRoleBinding"]),
        (Permissions(namespace=[PODS]), ["Role", "RoleBinding"]),
    ],
)
def test_roles_are_as_wide_as_the_permissions(permissions: Permissions, kinds: list[str]) -> None:
    assert account(permissions).kinds() == [*kinds, "ServiceAccount"]


@pytest.mark.parametrize("width", ["cluster", "namespace"])
def test_rules_are_declared_as_written(width: str) -> None:
    role, binding = ("ClusterRole", "ClusterRoleBinding") if width == "cluster" else ("Role", "RoleBinding")
    permissions: dict[str, Any] = {width: [PODS, JOBS]}
    recording = account(Permissions(**permissions))

    assert recording.one(role)["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create"], "resourceNames": ["one", "two"]},
    ]
    bound = recording.one(binding)
    assert bound["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": "boat"}
    assert bound["subjects"] == [{"kind": "ServiceAccount", "name": "boat", "namespace": "harbour"}]
    assert recording.one(role)["metadata"].get("namespace") == ("harbour" if width == "namespace" else None)


def test_permissions_are_true_when_there_is_any() -> None:
    assert not Permissions()
    assert Permissions(cluster=[PODS])
    assert Permissions(namespace=[PODS])
