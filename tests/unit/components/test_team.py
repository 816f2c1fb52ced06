"""A team: what it may use, who may work in it, and who may reach it."""

from __future__ import annotations

from typing import Any

import pytest

from infra.components.tenancy.roles import BASE_RULES, ROLES, TeamRoles
from infra.components.tenancy.team import Team, TeamArgs
from infra.settings.models.teams import Team as TeamSettings
from tests.unit.core.parsing import parse
from tests.unit.core.recording import Recording, record

VISION: dict[str, Any] = {
    "name": "vision",
    "owner": "vera@example.com",
    "members": [
        {"name": "vito@example.com", "role": "edit"},
        {"name": "adam@example.com", "role": "admin"},
        {"name": "lena@example.com", "role": "view"},
        {"name": "luis@example.com", "role": "edit"},
    ],
    "quota": {"cpu": 64, "memory": "512Gi", "gpus": 8, "pods": 100, "sharedStorage": "1Ti"},
    "limits": {
        "defaultRequest": {"cpu": "100m", "memory": "256Mi"},
        "default": {"memory": "4Gi"},
        "max": {"cpu": 48, "memory": "512Gi"},
    },
}
ROLE_LABEL = "rbac.authorization.kubeflow.org/aggregate-to-{}"


def team(**changes: Any) -> Recording:
    settings = parse(TeamSettings, **{**VISION, **changes})
    return record(
        lambda: Team(
            settings.name,
            TeamArgs(settings=settings, shared_class="shared", devices={"nvidia.com/gpu": settings.quota.gpus}),
        )
    )


def people(recording: Recording, role: str) -> list[str]:
    binding = recording.one("RoleBinding", f"team-{role}")
    assert binding["roleRef"]["name"] == f"kubeflow-{role}"
    assert {subject["kind"] for subject in binding["subjects"]} == {"User"}
    return [subject["name"] for subject in binding["subjects"]]


def test_quota_bounds_what_is_asked_for_by_all_pods_together() -> None:
    assert team().one("ResourceQuota", "quota")["spec"]["hard"] == {
        "requests.cpu": "64",
        "requests.memory": "512Gi",
        "requests.nvidia.com/gpu": "8",
        "pods": "100",
        "shared.storageclass.storage.k8s.io/requests.storage": "1Ti",
    }


def test_team_without_gpus_is_kept_off_them() -> None:
    quota = {**VISION["quota"], "gpus": 0}

    assert team(quota=quota).one("ResourceQuota", "quota")["spec"]["hard"]["requests.nvidia.com/gpu"] == "0"


def test_containers_that_say_nothing_get_defaults_and_none_exceeds_the_most() -> None:
    assert team().one("LimitRange")["spec"]["limits"] == [
        {
            "type": "Container",
            "defaultRequest": {"cpu": "100m", "memory": "256Mi"},
            "default": {"cpu": "48", "memory": "4Gi"},
            "max": {"cpu": "48", "memory": "512Gi"},
        }
    ]


def test_people_get_the_role_they_are_given_and_the_owner_administers() -> None:
    recording = team()

    assert people(recording, "admin") == ["vera@example.com", "adam@example.com"]
    assert people(recording, "edit") == ["vito@example.com", "luis@example.com"]
    assert people(recording, "view") == ["lena@example.com"]


def test_team_of_one_binds_no_role_that_nobody_has() -> None:
    bindings = [binding["metadata"]["name"] for binding in team(members=[]).all("RoleBinding")]

    assert bindings == ["default-editor", "team-admin"]


def test_owner_who_is_also_a_member_is_bound_once() -> None:
    recording = team(members=[{"name": "vera@example.com", "role": "admin"}])

    assert people(recording, "admin") == ["vera@example.com"]


def test_jobs_work_with_the_rights_of_an_editor() -> None:
    binding = team().one("RoleBinding", "default-editor")

    assert binding["roleRef"]["name"] == "kubeflow-edit"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "default-editor", "namespace": "vision"}]


def test_only_the_teams_own_pods_reach_its_pods() -> None:
    assert team().one("NetworkPolicy")["spec"] == {
        "podSelector": {},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {}}]}],
    }


def test_namespace_is_a_profile_held_to_baseline() -> None:
    metadata = team().one("Namespace")["metadata"]

    assert metadata["annotations"] == {"owner": "vera@example.com"}
    assert metadata["labels"]["app.kubernetes.io/part-of"] == "kubeflow-profile"
    assert metadata["labels"]["pod-security.kubernetes.io/enforce"] == "baseline"
    assert metadata["labels"]["flotilla.dev/team"] == "vision"


def test_everything_of_a_team_lies_in_its_namespace_and_waits_for_it() -> None:
    recording = team()
    namespace = recording.resource("Namespace").urn

    for resource in recording.resources:
        if resource.inputs.get("kind") not in (None, "Namespace"):
            assert resource.inputs["metadata"]["namespace"] == "vision"
            assert namespace in resource.after


@pytest.mark.parametrize("role", ROLES)
def test_role_is_made_of_the_roles_that_name_it(role: str) -> None:
    manifest = record(lambda: TeamRoles("team-roles")).one("ClusterRole", role)

    assert manifest["aggregationRule"] == {"clusterRoleSelectors": [{"matchLabels": {ROLE_LABEL.format(role): "true"}}]}


@pytest.mark.parametrize(
    ("role", "included_in"),
    [
        ("kubeflow-view", ["kubeflow-admin", "kubeflow-edit"]),
        ("kubeflow-edit", ["kubeflow-admin"]),
        ("kubeflow-admin", []),
    ],
)
def test_higher_roles_include_lower_ones(role: str, included_in: list[str]) -> None:
    labels = record(lambda: TeamRoles("team-roles")).one("ClusterRole", role)["metadata"]["labels"]
    prefix = ROLE_LABEL.format("")

    assert sorted(key.removeprefix(prefix) for key in labels if key.startswith(prefix)) == included_in


def test_viewers_see_no_secret() -> None:
    assert not any("secrets" in rule.resources for rule in BASE_RULES["kubeflow-view"])


@pytest.mark.parametrize("kind", ["resourcequotas", "limitranges", "networkpolicies"])
def test_no_member_may_lift_what_the_platform_set(kind: str) -> None:
    verbs = {verb for rules in BASE_RULES.values() for rule in rules if kind in rule.resources for verb in rule.verbs}

    assert verbs <= {"get", "list", "watch"}


@pytest.mark.parametrize(
    ("allowed", "refused"),
    [
        (["serving", "training", "batch"], []),
        (["training", "batch"], ["flotilla-serving"]),
        ([], ["flotilla-serving", "flotilla-training", "flotilla-batch"]),
    ],
)
def test_pods_of_a_class_the_team_may_not_name_are_refused(allowed: list[str], refused: list[str]) -> None:
    spec = team(priorities=allowed).one("ResourceQuota", "priorities")["spec"]
    (scope,) = spec["scopeSelector"]["matchExpressions"]

    assert spec["hard"] == {"pods": "0"}
    assert (scope["scopeName"], scope["operator"]) == ("PriorityClass", "In")
    assert scope["values"] == ["flotilla-platform", "system-cluster-critical", "system-node-critical", *refused]


def test_team_may_name_every_class_below_the_platforms_unless_it_says_less() -> None:
    (scope,) = team().one("ResourceQuota", "priorities")["spec"]["scopeSelector"]["matchExpressions"]

    assert not any(name in scope["values"] for name in ("flotilla-serving", "flotilla-training", "flotilla-batch"))


def test_quota_lets_a_team_borrow_as_far_as_its_queue_does() -> None:
    settings = parse(TeamSettings, **VISION)
    args = TeamArgs(settings=settings, shared_class="shared", devices={"nvidia.com/gpu": 8}, borrow_percent=50)
    hard = record(lambda: Team("vision", args)).one("ResourceQuota", "quota")["spec"]["hard"]

    assert hard["requests.cpu"] == "96"
    assert hard["requests.memory"] == "768Gi"
    assert hard["requests.nvidia.com/gpu"] == "12"
    assert hard["pods"] == "100"
