"""Queues: Kueue highly available or left to the platform, a flavor for each pool, a queue for each team."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import yaml

from infra.components.cluster.queues import Queues, QueuesArgs
from infra.components.tenancy.queue import TeamQueue, TeamQueueArgs
from infra.settings.capacity.pools import Amounts
from infra.settings.models.scheduling import Kueue
from ops import flux
from tests.unit.core.parsing import everything, parse
from tests.unit.core.recording import Recording, record

RESOURCES = {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}}
GUARANTEES = {
    "cpu": Amounts(cpu=Decimal(20), memory=Decimal(64 * 1024**3)),
    "gpu": Amounts(cpu=Decimal("9.5"), memory=Decimal(10 * 1024**3), devices={"nvidia.com/gpu": 6}),
}

FLAVORS = {"cpu": "cpu", "gpu": "gpu-0123abcd"}


def kueue(**changes: Any) -> Kueue:
    return parse(Kueue, **{"kind": "kueue", "installed": "install", "resources": RESOURCES, **changes})


def declared(**changes: Any) -> Recording:
    args = QueuesArgs(settings=kueue(**changes), pools=everything().cluster.node_pools)
    return record(lambda: Queues("queues", args))


def release(**changes: Any) -> dict[str, Any]:
    (found,) = [each.inputs for each in declared(**changes).resources if each.type == "kubernetes:helm.sh/v3:Release"]
    return found


def configuration(**changes: Any) -> dict[str, Any]:
    return yaml.safe_load(release(**changes)["values"]["managerConfig"]["controllerManagerConfigYaml"])


def queue(**changes: Any) -> dict[str, Any]:
    args = TeamQueueArgs(settings=kueue(**changes), namespace="vision", guarantees=GUARANTEES, flavors=FLAVORS)
    return record(lambda: TeamQueue("vision-queue", args)).one("ClusterQueue")["spec"]


def test_controller_is_replicated_spread_and_before_teams() -> None:
    manager = release(replicas=3)["values"]["controllerManager"]

    assert manager["replicas"] == 3
    assert manager["podDisruptionBudget"] == {"enabled": True, "minAvailable": 2}
    assert {each["topologyKey"] for each in manager["topologySpreadConstraints"]} == {
        "topology.kubernetes.io/zone",
        "kubernetes.io/hostname",
    }
    assert manager["manager"]["priorityClassName"] == "flotilla-platform"
    assert configuration()["leaderElection"]["leaderElect"] is True


def test_only_jobs_of_teams_queue() -> None:
    assert configuration()["managedJobsNamespaceSelector"] == {
        "matchExpressions": [{"key": "flotilla.dev/team", "operator": "Exists"}]
    }


def test_job_that_does_not_become_ready_goes_back_where_that_is_asked_for() -> None:
    assert configuration(readyWithin="15m")["waitForPodsReady"] == {"timeout": "15m"}
    assert "waitForPodsReady" not in configuration()


def test_api_server_reaches_the_webhooks_and_the_api_of_waiting_jobs() -> None:
    spec = declared().one("NetworkPolicy", "kueue")["spec"]

    assert spec["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": "kueue"}}
    assert {9443, 8082} <= {port["port"] for rule in spec["ingress"] for port in rule["ports"] if "from" not in rule}


def test_kueue_that_the_platform_brings_is_used_but_not_installed() -> None:
    assert declared(installed="present").kinds() == ["ClusterRole", *["ResourceFlavor"] * 7]


def test_chart_of_an_oci_registry_is_named_by_one_address() -> None:
    found = release()
    repository, helm_release = flux.objects(found)

    assert found["chart"] == "oci://registry.k8s.io/kueue/charts/kueue"
    assert "repositoryOpts" not in found
    assert repository["spec"]["url"] == "oci://registry.k8s.io/kueue/charts"
    assert repository["spec"]["type"] == "oci"
    assert helm_release["spec"]["chart"]["spec"]["chart"] == "kueue"


def test_every_pool_of_teams_is_a_flavor_that_keeps_off_whom_its_taints_keep_off() -> None:
    recording = declared()
    pools = [pool.name for pool in everything().cluster.node_pools if pool.purpose != "system"]

    assert [each["metadata"]["name"] for each in recording.all("ResourceFlavor")] == sorted(pools)
    assert recording.one("ResourceFlavor", "gpu")["spec"] == {
        "nodeLabels": {"flotilla.dev/pool": "gpu"},
        "nodeTaints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
    }
    assert "nodeTaints" not in recording.one("ResourceFlavor", "cpu")["spec"]


LEVELS = ("flotilla.dev/block", "flotilla.dev/rack", "kubernetes.io/hostname")
MACHINES = ("kubernetes.io/hostname",)


def wired(**changes: Any) -> Recording:
    topology = {"name": "fabric", "pools": ["gpu", "gpu-amd"], "levels": ["block", "rack"]}
    levels = {"cpu": MACHINES, "gpu": LEVELS, "gpu-amd": LEVELS, "neuron": MACHINES, **changes.pop("levels", {})}
    args = QueuesArgs(settings=kueue(topologies=[topology]), pools=everything().cluster.node_pools, levels=levels)
    return record(lambda: Queues("queues", args))


def flavor(recording: Recording, pool: str) -> dict[str, Any]:
    (found,) = [
        each for each in recording.all("ResourceFlavor") if each["metadata"]["labels"].get("flotilla.dev/pool") == pool
    ]
    return found


def test_each_topology_is_declared_once_from_the_largest_level_to_the_machine() -> None:
    topologies = {each["metadata"]["name"].rpartition("-")[0]: each for each in wired().all("Topology")}

    assert sorted(topologies) == ["fabric", "machines"]
    assert topologies["fabric"]["spec"]["levels"] == [{"nodeLabel": label} for label in LEVELS]
    assert topologies["machines"]["spec"]["levels"] == [{"nodeLabel": "kubernetes.io/hostname"}]


def test_flavor_with_a_topology_names_it_and_waits_for_it() -> None:
    recording = wired()
    topologies = {each["metadata"]["name"] for each in recording.all("Topology")}
    spec = flavor(recording, "gpu")["spec"]

    assert spec["topologyName"] in topologies
    assert spec["nodeLabels"] == {"flotilla.dev/pool": "gpu"}
    assert spec["topologyName"] == flavor(recording, "gpu-amd")["spec"]["topologyName"]
    assert spec["topologyName"] != flavor(recording, "cpu")["spec"]["topologyName"]
    (topology,) = [each.urn for each in recording.resources if each.urn.endswith("::topology-fabric")]
    assert topology in recording.awaited("ResourceFlavor", flavor(recording, "gpu")["metadata"]["name"])


def test_flavor_with_a_topology_is_another_when_its_levels_change() -> None:
    before = flavor(wired(), "gpu")["metadata"]["name"]
    after = flavor(wired(levels={"gpu": MACHINES, "gpu-amd": MACHINES}), "gpu")["metadata"]["name"]

    assert before.startswith("gpu-")
    assert before != after
    assert flavor(wired(), "gpu-cut")["metadata"]["name"] == "gpu-cut"


def test_members_may_look_at_queues() -> None:
    role = declared().one("ClusterRole", "flotilla-queues-view")

    assert role["metadata"]["labels"]["rbac.authorization.kubeflow.org/aggregate-to-kubeflow-view"] == "true"
    assert role["rules"][0]["verbs"] == ["get", "list", "watch"]


def test_queue_guarantees_every_resource_of_every_pool() -> None:
    (group,) = queue(borrowPercent=50)["resourceGroups"]

    assert group == {
        "coveredResources": ["cpu", "memory", "nvidia.com/gpu"],
        "flavors": [
            {
                "name": "cpu",
                "resources": [
                    {"name": "cpu", "nominalQuota": "20", "borrowingLimit": "10"},
                    {"name": "memory", "nominalQuota": "64Gi", "borrowingLimit": "32Gi"},
                    {"name": "nvidia.com/gpu", "nominalQuota": "0", "borrowingLimit": "0"},
                ],
            },
            {
                "name": "gpu-0123abcd",
                "resources": [
                    {"name": "cpu", "nominalQuota": "9500m", "borrowingLimit": "4750m"},
                    {"name": "memory", "nominalQuota": "10Gi", "borrowingLimit": "5Gi"},
                    {"name": "nvidia.com/gpu", "nominalQuota": "6", "borrowingLimit": "3"},
                ],
            },
        ],
    }


@pytest.mark.parametrize(
    ("changes", "own", "others"),
    [
        ({}, "LowerPriority", "Any"),
        ({"preemptOwn": False, "reclaim": "never"}, "Never", "Never"),
        ({"reclaim": "lower-priority"}, "LowerPriority", "LowerPriority"),
    ],
)
def test_who_gives_way_is_as_the_settings_say(changes: dict[str, Any], own: str, others: str) -> None:
    assert queue(**changes)["preemption"] == {"withinClusterQueue": own, "reclaimWithinCohort": others}


def test_teams_share_a_cohort_and_only_their_own_namespace_uses_a_queue() -> None:
    spec = queue()

    assert spec["cohortName"] == "teams"
    assert spec["namespaceSelector"] == {"matchLabels": {"flotilla.dev/team": "vision"}}


def test_jobs_that_name_no_queue_get_into_the_teams() -> None:
    args = TeamQueueArgs(settings=kueue(), namespace="vision", guarantees=GUARANTEES, flavors=FLAVORS)
    recording = record(lambda: TeamQueue("vision-queue", args))
    local = recording.one("LocalQueue")

    assert (local["metadata"]["name"], local["metadata"]["namespace"]) == ("default", "vision")
    assert local["spec"] == {"clusterQueue": "vision"}
    assert recording.resource("ClusterQueue").urn in recording.awaited("LocalQueue")
