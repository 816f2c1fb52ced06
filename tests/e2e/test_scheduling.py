"""Who gives way to whom, on a real scheduler; and queues that Kueue's own schemas take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from infra import crd_sources
from infra.components.cluster.foundation import Foundation
from infra.components.cluster.queues import Queues, QueuesArgs
from infra.components.tenancy.queue import TeamQueue, TeamQueueArgs
from infra.components.tenancy.team import Team, TeamArgs
from infra.core.crds.sources import manifests
from infra.errors import FlotillaError
from infra.settings.capacity.pools import for_teams, pools_of
from infra.settings.devices import granted
from infra.settings.models.scheduling import Kueue
from infra.settings.queues import guarantees
from infra.settings.topology import levels_by_pool
from sandbox.cluster import Sandbox
from sandbox.nodes import Node
from tests.e2e.objects import eventually, namespace, pod
from tests.unit.core.parsing import everything
from tests.unit.core.recording import record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sandbox.api import ApiClient, Json

pytestmark = pytest.mark.e2e

GPU = "nvidia.com/gpu"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
STRICT = "?dryRun=All&fieldValidation=Strict"


@pytest.fixture(scope="module")
def api(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiClient]:
    """Yield the API of a sandbox with one node of two GPUs, and the platform's PriorityClasses."""
    own = Sandbox("scheduling", tmp_path_factory.mktemp("scheduling") / "sandbox", tools=tools)
    own.up([Node(name="gpu", zone="a", capacity={"cpu": "16", "memory": "64Gi", GPU: "2"})])
    try:
        with own.api() as client:
            for each in record(lambda: Foundation("foundation")).all("PriorityClass"):
                client.create(CLASSES, whole(each))
            yield client
    finally:
        own.down()


def whole(value: Any) -> Any:
    """Return a recorded manifest with whole numbers, which on their way through the engine became floats."""
    if isinstance(value, dict):
        return {key: whole(item) for key, item in cast("Json", value).items()}
    if isinstance(value, list):
        return [whole(item) for item in cast("list[Any]", value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def ask(api: ApiClient, space: str, name: str, priority: str, gpus: int = 1) -> None:
    asked = pod(name, priorityClassName=priority, terminationGracePeriodSeconds=0)
    asked["spec"]["containers"][0]["resources"] = {"limits": {GPU: gpus, "cpu": "1", "memory": "1Gi"}}
    api.create(f"/api/v1/namespaces/{space}/pods", asked)


def running(api: ApiClient, space: str) -> set[str]:
    return {
        each["metadata"]["name"]
        for each in api.get(f"/api/v1/namespaces/{space}/pods")["items"]
        if each["spec"].get("nodeName") and "deletionTimestamp" not in each["metadata"]
    }


def scheduled(api: ApiClient, space: str, name: str) -> str:
    found = api.get(f"/api/v1/namespaces/{space}/pods/{name}")["status"].get("conditions", [])
    return next((each.get("message", each["status"]) for each in found if each["type"] == "PodScheduled"), "")


def test_serving_takes_the_place_of_training_and_training_that_of_batch(api: ApiClient) -> None:
    space = namespace(api)
    for name in ("batch-1", "batch-2"):
        ask(api, space, name, "flotilla-batch")
    eventually(lambda: running(api, space) == {"batch-1", "batch-2"})

    ask(api, space, "training", "flotilla-training")
    eventually(lambda: "training" in running(api, space) and len(running(api, space)) == 2)
    ask(api, space, "serving", "flotilla-serving", gpus=2)
    eventually(lambda: running(api, space) == {"serving"})
    api.delete(f"/api/v1/namespaces/{space}")


def test_batch_takes_nobodys_place(api: ApiClient) -> None:
    space = namespace(api)
    plain = pod("plain", terminationGracePeriodSeconds=0)
    plain["spec"]["containers"][0]["resources"] = {"limits": {GPU: 2}}
    eventually(lambda: not _others(api, space))
    api.create(f"/api/v1/namespaces/{space}/pods", plain)
    eventually(lambda: running(api, space) == {"plain"})

    ask(api, space, "batch", "flotilla-batch")
    eventually(lambda: "Insufficient nvidia.com/gpu" in scheduled(api, space, "batch"))

    assert running(api, space) == {"plain"}
    api.delete(f"/api/v1/namespaces/{space}")


def _others(api: ApiClient, space: str) -> list[str]:
    """Return pods on the node that belong to other tests."""
    items = api.get("/api/v1/pods")["items"]
    return [each["metadata"]["name"] for each in items if each["metadata"]["namespace"] != space]


def _quota(priorities: list[str]) -> Json:
    (settings,) = everything().teams
    team = settings.model_copy(update={"priorities": tuple(priorities)})
    args = TeamArgs(settings=team, shared_class="shared", devices={})
    quota = record(lambda: Team("vision", args)).one("ResourceQuota", "priorities")
    return whole({**quota, "metadata": {"name": "priorities"}})


def test_team_may_not_name_the_platforms_class_nor_one_it_was_not_given(api: ApiClient) -> None:
    space = namespace(api)
    api.create(f"/api/v1/namespaces/{space}/resourcequotas", _quota(["training", "batch"]))
    quota = f"/api/v1/namespaces/{space}/resourcequotas/priorities"
    eventually(lambda: "hard" in api.get(quota).get("status", {}))

    for name in ("flotilla-platform", "system-node-critical", "flotilla-serving"):
        with pytest.raises(FlotillaError, match="exceeded quota: priorities"):
            ask(api, space, "refused", name)
    ask(api, space, "allowed", "flotilla-training")
    assert api.find(f"/api/v1/namespaces/{space}/pods/allowed")
    api.delete(f"/api/v1/namespaces/{space}")


@pytest.fixture(scope="module")
def kueue(api: ApiClient) -> ApiClient:
    """Return the API once it serves Kueue's kinds by the schemas of its own release."""
    for crd in manifests(crd_sources.KUEUE):
        api.create(CRDS, crd)
    for name in crd_sources.KUEUE.crds:
        eventually(lambda name=name: _established(api, name))
    return api


def _established(api: ApiClient, name: str) -> bool:
    conditions = api.get(f"{CRDS}/{name}").get("status", {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def _queue_objects(borrow_percent: int) -> list[Json]:
    settings = everything()
    queues = settings.scheduling.queues
    assert isinstance(queues, Kueue)
    queues = queues.model_copy(update={"borrow_percent": borrow_percent})
    pools = for_teams(pools_of(settings.cluster, settings.capacity.node_reserve))
    (team,) = settings.teams

    def declare() -> None:
        levels = levels_by_pool(settings.cluster, queues)
        declared = Queues("queues", QueuesArgs(settings=queues, pools=settings.cluster.node_pools, levels=levels))
        laid_out = guarantees(team, settings.cluster, pools)
        args = TeamQueueArgs(settings=queues, namespace="default", guarantees=laid_out, flavors=declared.flavors)
        TeamQueue("vision-queue", args)

    found = record(declare)
    kinds = ("Topology", "ResourceFlavor", "ClusterQueue", "LocalQueue")
    return [whole(each) for kind in kinds for each in found.all(kind)]


@pytest.mark.parametrize("borrow_percent", [0, 50])
def test_kueues_own_schemas_take_every_queue_and_flavor(kueue: ApiClient, borrow_percent: int) -> None:
    objects = _queue_objects(borrow_percent)

    assert len(objects) == 10
    for each in objects:
        kueue.create(f"{_path(each)}{STRICT}", each)


def test_topology_and_its_flavor_can_only_be_replaced(kueue: ApiClient) -> None:
    wired = [each for each in _queue_objects(0) if {"levels", "topologyName"} & each["spec"].keys()]
    objects = {each["kind"]: each for each in wired}
    for each in objects.values():
        kueue.create(_path(each), each)

    for kind, change in (("Topology", {"levels": [{"nodeLabel": "a/b"}]}), ("ResourceFlavor", {"nodeTaints": []})):
        place = f"{_path(objects[kind])}/{objects[kind]['metadata']['name']}"
        with pytest.raises(FlotillaError, match="immutable"):
            kueue.patch(place, {"spec": change})


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"cohort": "teams"}, 'unknown field "spec.cohort"'),
        ({"preemption": {"reclaimWithinCohort": "Sometimes"}}, "Unsupported value"),
        ({"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "x", "resources": []}]}]}, "resources"),
    ],
)
def test_kueues_own_schemas_refuse_what_they_should(kueue: ApiClient, change: dict[str, Any], fault: str) -> None:
    (queue,) = [each for each in _queue_objects(0) if each["kind"] == "ClusterQueue"]

    with pytest.raises(FlotillaError, match=fault):
        kueue.create(f"{_path(queue)}{STRICT}", {**queue, "spec": {**queue["spec"], **change}})


def _path(manifest: Json) -> str:
    space = manifest["metadata"].get("namespace")
    scope = f"/namespaces/{space}" if space else ""
    plural = {"Topology": "topologies"}.get(manifest["kind"], f"{manifest['kind'].lower()}s")
    return f"{KUEUE}{scope}/{plural}"


def test_every_device_of_a_team_is_bounded_by_its_quota(api: ApiClient) -> None:
    settings = everything()
    (team,) = settings.teams
    devices = granted(team.quota, settings.cluster)
    args = TeamArgs(settings=team, shared_class="shared", devices=devices)
    quota = record(lambda: Team("vision", args)).one("ResourceQuota", "quota")
    space = namespace(api)
    api.create(f"/api/v1/namespaces/{space}/resourcequotas", whole({**quota, "metadata": {"name": "quota"}}))
    eventually(lambda: "hard" in api.get(f"/api/v1/namespaces/{space}/resourcequotas/quota").get("status", {}))

    for device in ("nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb", "amd.com/gpu", "aws.amazon.com/neuron"):
        asked = pod("greedy")
        asked["spec"]["containers"][0]["resources"] = {"limits": {device: 1, "cpu": "1", "memory": "1Gi"}}
        with pytest.raises(FlotillaError, match="exceeded quota: quota"):
            api.create(f"/api/v1/namespaces/{space}/pods", asked)
    api.delete(f"/api/v1/namespaces/{space}")
