"""Gang schedulers: replicas of which one leads, on system nodes, with a lease and a name of their own."""

from __future__ import annotations

from typing import Any

import pulumi
import yaml

from infra.components.cluster.gangs.coscheduling import GangScheduler, GangSchedulerArgs
from infra.components.cluster.gangs.stack import declare_gang_scheduler
from infra.components.cluster.gangs.volcano import VolcanoScheduler
from infra.settings.gangs import pod_group, scheduler_name
from infra.settings.models.gangs import Coscheduling, NoGangs, Volcano
from tests.unit.core.parsing import parse
from tests.unit.core.recording import Recording, record

RESOURCES = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}


def coscheduling(**changes: Any) -> Coscheduling:
    values = {"kind": "coscheduling", "installed": "install", "resources": RESOURCES, **changes}
    return parse(Coscheduling, **values)


def volcano(**changes: Any) -> Volcano:
    return parse(Volcano, **{"kind": "volcano", "installed": "install", "resources": RESOURCES, **changes})


def second_scheduler(**changes: Any) -> Recording:
    args = GangSchedulerArgs(settings=coscheduling(**changes), context="test")
    return record(lambda: GangScheduler("gangs", args))


def configuration(**changes: Any) -> dict[str, Any]:
    config = second_scheduler(**changes).one("ConfigMap", "gang-scheduler")
    return yaml.safe_load(config["data"]["scheduler.yaml"])


def custom(**changes: Any) -> dict[str, Any]:
    recording = record(lambda: VolcanoScheduler("gangs", volcano(**changes)))
    (release,) = [each.inputs for each in recording.resources if each.type == "kubernetes:helm.sh/v3:Release"]
    return release["values"]["custom"]


def test_second_scheduler_leads_by_a_lease_of_its_own() -> None:
    recording = second_scheduler(replicas=3)
    election = configuration()["leaderElection"]

    assert recording.one("Deployment")["spec"]["replicas"] == 3
    assert election == {"leaderElect": True, "resourceName": "gang-scheduler", "resourceNamespace": "gang-scheduler"}
    assert {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "verbs": ["get", "update", "patch"],
        "resourceNames": ["gang-scheduler"],
    } in recording.one("Role")["rules"]


def test_second_scheduler_takes_pods_that_name_it_and_sorts_groups_together() -> None:
    (profile,) = configuration(schedulerName="gangs", waitSeconds=90)["profiles"]

    assert profile["schedulerName"] == "gangs"
    assert profile["plugins"]["queueSort"]["enabled"] == [{"name": "Coscheduling"}]
    assert profile["pluginConfig"][0]["args"] == {"permitWaitingTimeSeconds": 90, "podGroupRejectPercentage": 0}


def test_second_scheduler_runs_on_system_nodes_with_its_file() -> None:
    pod = second_scheduler().one("Deployment")["spec"]["template"]["spec"]
    (terms,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]

    assert terms["matchExpressions"][0]["values"] == ["system"]
    assert "--config=/etc/gang-scheduler/scheduler.yaml" in pod["containers"][0]["args"]


def test_second_scheduler_looks_again_before_the_queues_own_five_minutes() -> None:
    (container,) = second_scheduler().one("Deployment")["spec"]["template"]["spec"]["containers"]

    assert "--pod-max-in-unschedulable-pods-duration=10s" in container["args"]


def test_second_scheduler_starts_once_groups_have_a_schema() -> None:
    recording = second_scheduler()
    (bundle,) = [resource for resource in recording.resources if resource.type.endswith(":CrdBundle")]

    assert list(bundle.inputs["crds"]) == ["podgroups.scheduling.x-k8s.io"]
    assert bundle.urn in recording.awaited("Deployment")


def test_changed_configuration_replaces_the_second_schedulers_pods() -> None:
    def digest(**changes: Any) -> str:
        metadata = second_scheduler(**changes).one("Deployment")["spec"]["template"]["metadata"]
        return metadata["annotations"]["flotilla.dev/files-digest"]

    assert digest() != digest(waitSeconds=61)


def test_volcano_is_replicated_apart_and_guarded() -> None:
    values = custom(replicas=3)
    recording = record(lambda: VolcanoScheduler("gangs", volcano()))

    assert values["leader_elect_enable"] is True
    for part in ("scheduler", "controller"):
        assert values[f"{part}_replicas"] == 3
        (apart,) = values[f"{part}_affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        guarded = recording.one("PodDisruptionBudget", f"volcano-{part}")["spec"]["selector"]["matchLabels"]
        assert apart["labelSelector"]["matchLabels"] == guarded == values[f"{part}_podLabels"]
    assert values["default_ns"] == {"flotilla.dev/purpose": "system"}


def test_volcano_shows_autoscalers_the_pods_of_pools_at_zero() -> None:
    configured = yaml.safe_load(custom()["scheduler_config_override"])
    plugins = [plugin["name"] for tier in configured["tiers"] for plugin in tier["plugins"]]

    assert "enqueue" not in configured["actions"]
    assert {"gang", "priority"} <= set(plugins)
    assert not {"overcommit", "proportion"} & set(plugins)


def test_volcanos_pods_need_no_privilege() -> None:
    values = custom()

    assert values["default_csc"]["capabilities"] == {"drop": ["ALL"]}
    assert values["default_csc"]["allowPrivilegeEscalation"] is False
    assert values["admission_enable"] is False


def test_scheduler_that_the_platform_brings_is_only_named() -> None:
    for gangs in (parse(NoGangs, kind="none"), coscheduling(installed="present"), volcano(installed="present")):
        recording = record(lambda gangs=gangs: declare_gang_scheduler(gangs, "test", pulumi.ResourceOptions()))
        assert not recording.resources


def test_each_scheduler_has_its_name_and_its_kind_of_group() -> None:
    assert scheduler_name(parse(NoGangs, kind="none")) is None
    assert pod_group(parse(NoGangs, kind="none")) is None
    assert scheduler_name(coscheduling(schedulerName="ours")) == "ours"
    assert pod_group(coscheduling()) == ("scheduling.x-k8s.io/v1alpha1", "PodGroup")
    assert scheduler_name(volcano()) == "volcano"
    assert pod_group(volcano()) == ("scheduling.volcano.sh/v1beta1", "PodGroup")
