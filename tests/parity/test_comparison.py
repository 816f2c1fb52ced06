"""The comparison itself: what it sees of manifests, and what it lets pass."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parity import facts
from tests.parity.comparison import Accepted, faults
from tests.parity.facts import Part, of_manifests

OURS = {"ports": frozenset({"80", "443"})}
THEIRS = {"ports": frozenset({"80", "8080"})}


def accepting(**patterns: Any) -> list[Accepted]:
    return [Accepted(subject="boat", aspect="ports", reason="It is safer.", **patterns)]


def test_differences_that_are_not_listed_are_faults() -> None:
    assert faults("boat", THEIRS, OURS, []) == ["boat, ports: - 8080", "boat, ports: + 443"]


def test_differences_that_are_listed_pass() -> None:
    assert faults("boat", THEIRS, OURS, accepting(missing=("80?0",), added=("443",))) == []


def test_listed_differences_that_are_none_are_faults() -> None:
    listed = accepting(missing=("8080",), added=("443", "444"))

    assert faults("boat", THEIRS, OURS, listed) == ["boat, ports: + 444 is accepted, but there is no such difference"]


@pytest.mark.parametrize(("subject", "aspect"), [("raft", "ports"), ("boat", "image")])
def test_what_is_accepted_elsewhere_is_not_accepted_here(subject: str, aspect: str) -> None:
    listed = [Accepted(subject=subject, aspect=aspect, reason="It is safer.", missing=("8080",), added=("443",))]

    assert {"boat, ports: - 8080", "boat, ports: + 443"} <= set(faults("boat", THEIRS, OURS, listed))


def test_aspects_that_only_one_side_has_are_compared() -> None:
    assert faults("boat", {}, OURS, []) == ["boat, ports: + 443", "boat, ports: + 80"]


def manifest(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "namespace": "harbour"}, **more}


def rules(*verbs: str) -> list[dict[str, Any]]:
    return [{"apiGroups": ["", "apps"], "resources": ["boats"], "verbs": list(verbs)}]


def bound(kind: str, role: str, account: str = "boat", **subject: str) -> dict[str, Any]:
    subjects = [{"kind": "ServiceAccount", "name": account, **subject}]
    return manifest(f"{kind}Binding", "any", roleRef={"kind": kind, "name": role}, subjects=subjects)


CONTAINER = {
    "image": "boat:1",
    "command": ["/boat"],
    "args": ["--float"],
    "env": [{"name": "SEA", "value": "calm"}],
    "ports": [{"name": "web", "containerPort": 8080.0}],
}
DEPLOYMENT = manifest(
    "Deployment", "boat", spec={"template": {"spec": {"serviceAccountName": "boat", "containers": [CONTAINER]}}}
)


def seen(*manifests: dict[str, Any]) -> dict[str, frozenset[str]]:
    return facts.workload(of_manifests([DEPLOYMENT, *manifests]), "boat")


def test_container_is_seen_whole() -> None:
    found = seen()

    assert {aspect: set(found[aspect]) for aspect in ("image", "command", "arguments", "environment", "ports")} == {
        "image": {"boat:1"},
        "command": {"/boat"},
        "arguments": {"--float"},
        "environment": {"SEA"},
        "ports": {"8080"},
    }


@pytest.mark.parametrize("target", ["web", 8080])
def test_service_ports_are_seen_by_number_however_they_name_their_target(target: object) -> None:
    service = manifest("Service", "boat", spec={"ports": [{"port": 80, "targetPort": target}, {"port": 8080}]})

    assert seen(service)["service"] == {"80 to 8080", "8080 to 8080"}


def test_permissions_are_seen_through_bindings_and_no_others() -> None:
    found = seen(
        manifest("ClusterRole", "wide", rules=rules("get")),
        manifest("Role", "narrow", rules=[{**rules("delete")[0], "apiGroups": [""], "resourceNames": ["one"]}]),
        manifest("ClusterRole", "unbound", rules=rules("create")),
        manifest("ClusterRole", "others", rules=rules("patch")),
        bound("ClusterRole", "wide", namespace="harbour"),
        bound("Role", "narrow"),
        bound("ClusterRole", "others", account="raft"),
        bound("ClusterRole", "others", namespace="pond"),
    )

    assert found["permissions"] == {"get boats", "get boats.apps", "delete boats of one in its namespace"}


def test_webhooks_are_seen_with_what_they_judge() -> None:
    webhook = {
        "name": "judge",
        "failurePolicy": "Fail",
        "clientConfig": {"service": {"name": "boat", "path": "/judge"}},
        "rules": [{"operations": ["CREATE"], "apiGroups": ["sea"], "apiVersions": ["v1"], "resources": ["boats"]}],
    }

    assert seen(manifest("ValidatingWebhookConfiguration", "any", webhooks=[webhook]))["webhooks"] == {
        "ValidatingWebhookConfiguration judge /judge Fail CREATE sea/v1/boats"
    }


def test_aggregation_is_seen_through_third_roles() -> None:
    def role(name: str, *into: str) -> dict[str, Any]:
        return {
            "name": name,
            "labels": {f"to-{other}": "true" for other in into},
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {f"to-{name}": "true"}}]},
        }

    part = Part(roles=[role("high"), role("middle", "high"), role("low", "middle")])

    assert facts.aggregation(part, ["high", "middle", "low"])["aggregation"] == {
        "high includes middle",
        "high includes low",
        "middle includes low",
    }
