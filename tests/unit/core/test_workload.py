"""All that follows from an availability, so that nobody who adds a component has to remember it."""

from __future__ import annotations

import pytest

from infra.core.availability import Availability, LeaderElected, Replicated, Singleton
from infra.core.parts import Permissions, Rule, health, webhook
from infra.core.workload import Exposure
from tests.unit.core.examples import NAME, NAMESPACE, container, workload

SCALED = Replicated(replicas=2, up_to=5, target_cpu_percent=60)
ELECTED = LeaderElected(replicas=3, arguments=("--leader-elect",), lease="boat-leader")
SINGLE = Singleton(reason="two would steer apart")

ALWAYS = ["Deployment", "NetworkPolicy", "PodDisruptionBudget", "ServiceAccount"]
AVAILABILITIES: dict[str, tuple[Availability, list[str]]] = {
    "replicated": (Replicated(replicas=2), []),
    "scaled": (SCALED, ["HorizontalPodAutoscaler"]),
    "leader-elected": (ELECTED, ["Role", "RoleBinding"]),
    "singleton": (SINGLE, []),
}
every = pytest.mark.parametrize("name", AVAILABILITIES)


@every
def test_availability_decides_which_objects_there_are(name: str) -> None:
    availability, more = AVAILABILITIES[name]

    assert workload(availability).kinds() == sorted([*ALWAYS, *more])


@every
def test_a_budget_lets_nodes_drain_whatever_the_availability(name: str) -> None:
    budget = workload(AVAILABILITIES[name][0]).one("PodDisruptionBudget")

    assert budget["spec"] == {
        "maxUnavailable": 1,
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
        "selector": {"matchLabels": {"app.kubernetes.io/name": NAME}},
    }


@every
def test_everything_is_selected_by_the_pods_own_labels(name: str) -> None:
    recording = workload(AVAILABILITIES[name][0], container=container(ports=[health(8081), webhook(9443)]))
    deployment = recording.one("Deployment")
    selector = {"app.kubernetes.io/name": NAME}

    assert selector.items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert deployment["spec"]["selector"] == {"matchLabels": selector}
    assert recording.one("Service")["spec"]["selector"] == selector
    assert recording.one("NetworkPolicy")["spec"]["podSelector"] == {"matchLabels": selector}


@every
def test_every_object_carries_the_labels_of_the_workload(name: str) -> None:
    recording = workload(AVAILABILITIES[name][0], container=container(ports=[health(8081), webhook(9443)]))

    for resource in recording.resources:
        if "kind" in resource.inputs:
            assert resource.inputs["metadata"]["name"] == NAME
            assert resource.inputs["metadata"]["namespace"] == NAMESPACE
            assert resource.inputs["metadata"]["labels"] == {
                "app.kubernetes.io/name": NAME,
                "app.kubernetes.io/part-of": "fleet",
                "app.kubernetes.io/managed-by": "flotilla",
                "app.kubernetes.io/version": "v1",
            }


@pytest.mark.parametrize(
    ("availability", "replicas"), [(Replicated(replicas=4), 4), (ELECTED, 3), (SINGLE, 1), (SCALED, None)]
)
def test_replicas_are_left_to_the_autoscaler_where_there_is_one(
    availability: Availability, replicas: int | None
) -> None:
    assert workload(availability).one("Deployment")["spec"].get("replicas") == replicas


def test_autoscaler_scales_the_deployment_between_floor_and_ceiling() -> None:
    spec = workload(SCALED).one("HorizontalPodAutoscaler")["spec"]

    assert (spec["minReplicas"], spec["maxReplicas"]) == (2, 5)
    assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": NAME}
    assert spec["metrics"] == [
        {
            "type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}},
        }
    ]


@pytest.mark.parametrize("availability", [Replicated(replicas=2), SCALED, ELECTED])
def test_replicas_are_rolled_without_losing_any(availability: Availability) -> None:
    assert workload(availability).one("Deployment")["spec"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
    }


def test_singleton_is_replaced_says_why_and_is_not_spread() -> None:
    deployment = workload(SINGLE).one("Deployment")

    assert deployment["spec"]["strategy"] == {"type": "Recreate"}
    assert deployment["metadata"]["annotations"] == {
        "flotilla.dev/availability": "singleton",
        "flotilla.dev/singleton-reason": "two would steer apart",
    }
    assert "topologySpreadConstraints" not in deployment["spec"]["template"]["spec"]


@pytest.mark.parametrize(
    ("availability", "words"),
    [(Replicated(replicas=2), "replicated 2"), (SCALED, "replicated 2-5"), (ELECTED, "leader-elected 3")],
)
def test_availability_is_kept_on_the_object(availability: Availability, words: str) -> None:
    annotations = workload(availability).one("Deployment")["metadata"]["annotations"]

    assert annotations == {"flotilla.dev/availability": words}


def test_leader_election_is_turned_on_and_permitted() -> None:
    recording = workload(ELECTED, container=container(arguments=("--float",)))
    spec = recording.one("Deployment")["spec"]["template"]["spec"]
    rules = recording.one("Role")["rules"]

    assert spec["containers"][0]["args"] == ["--float", "--leader-elect"]
    assert spec["automountServiceAccountToken"] is True
    assert {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]} in rules
    assert ["boat-leader"] in [rule.get("resourceNames") for rule in rules]


@pytest.mark.parametrize("availability", [Replicated(replicas=2), SCALED, SINGLE])
def test_arguments_stay_as_they_are_without_leader_election(availability: Availability) -> None:
    deployment = workload(availability, container=container(arguments=("--float",))).one("Deployment")

    assert deployment["spec"]["template"]["spec"]["containers"][0]["args"] == ["--float"]


def test_pods_start_once_their_permissions_are_there() -> None:
    permissions = Permissions(
        cluster=[Rule(groups=("",), resources=("nodes",), verbs=("get",))],
        namespace=[Rule(groups=("",), resources=("pods",), verbs=("get",))],
    )
    recording = workload(permissions=permissions)
    awaited = {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}

    assert {recording.resource(kind).urn for kind in awaited} <= recording.resource("Deployment").after


def test_scaling_and_traffic_begin_once_there_are_pods() -> None:
    recording = workload(SCALED, container=container(ports=[webhook(9443)], probes=None))
    deployment = recording.resource("Deployment").urn

    assert deployment in recording.resource("HorizontalPodAutoscaler").after
    assert deployment in recording.resource("Service").after


def test_exposure_reaches_the_service() -> None:
    exposure = Exposure(kind="LoadBalancer", annotations={"a": "b"}, allowed_cidrs=["10.0.0.0/8"])
    service = workload(container=container(ports=[webhook(9443)], probes=None), exposure=exposure).one("Service")

    assert service["spec"]["type"] == "LoadBalancer"
    assert service["spec"]["loadBalancerSourceRanges"] == ["10.0.0.0/8"]
    assert service["metadata"]["annotations"] == {"a": "b"}


def test_pod_labels_are_added_to_pods_alone() -> None:
    deployment = workload(pod_labels={"istio": "pilot"}).one("Deployment")

    assert deployment["spec"]["template"]["metadata"]["labels"]["istio"] == "pilot"
    assert "istio" not in deployment["metadata"]["labels"]
    assert "istio" not in deployment["spec"]["selector"]["matchLabels"]


def test_workload_that_removes_nodes_runs_on_system_nodes_or_nowhere() -> None:
    affinity = workload(system_nodes_only=True).one("Deployment")["spec"]["template"]["spec"]["affinity"]

    assert affinity == {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "flotilla.dev/purpose", "operator": "In", "values": ["system"]}]}
                ]
            }
        }
    }


def test_account_carries_what_a_cloud_grants_a_role_by() -> None:
    account = workload(account_annotations={"eks.amazonaws.com/role-arn": "r"}).one("ServiceAccount")

    assert account["metadata"]["annotations"] == {"eks.amazonaws.com/role-arn": "r"}
    assert "annotations" not in workload().one("ServiceAccount")["metadata"]
