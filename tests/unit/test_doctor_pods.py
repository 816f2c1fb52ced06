"""Why pods wait that no pool takes, or that nobody looks for a node for yet; whose they are, and how many."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.doctor_pods import (
    CLAIMS,
    TOLERANT,
    asking,
    claim,
    cluster,
    event,
    listed,
    looked,
    node,
    placed,
    pod,
    told,
)

Json = dict[str, Any]


def affinity(key: str, operator: str, *values: str) -> Json:
    """Return a pod's affinity of one expression."""
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


UNFIT = {
    "no pool of that name": (
        pod("w", nodeSelector={"flotilla.dev/pool": "gpus"}),
        "1 of its 1 pods waits: there is no pool gpus for them; there are cpu, gpu",
    ),
    "a label that nobody sets": (
        pod("w", nodeSelector={"flotilla.dev/pool": "gpu", "example.com/disk": "fast"}),
        "gpu has no example.com/disk, and the pod selects fast",
    ),
    "a zone that the pool does not span": (
        pod("w", nodeSelector={"flotilla.dev/pool": "gpu", "topology.kubernetes.io/zone": "c"}),
        "gpu has no nodes in c",
    ),
    "an affinity to a pool that is too small": (
        pod("w", affinity=affinity("flotilla.dev/pool", "In", "cpu")),
        "one pod asks for more than a machine has: cpu offers 0 GPUs a node, and the pod requests 8 GPUs",
    ),
    "an affinity to no zone of the pool": (
        pod(
            "w", nodeSelector={"flotilla.dev/pool": "gpu"}, affinity=affinity("topology.kubernetes.io/zone", "In", "c")
        ),
        "gpu fails the pod's affinity: topology.kubernetes.io/zone In c",
    ),
    "an affinity to a product": (
        pod(
            "w", affinity=affinity("nvidia.com/gpu.product", "NotIn", "A100"), nodeSelector={"flotilla.dev/pool": "gpu"}
        ),
        "gpu fails the pod's affinity: nvidia.com/gpu.product NotIn A100",
    ),
    "a taint": (
        pod("w", tolerations=[], nodeSelector={"flotilla.dev/pool": "gpu"}),
        "1 of its 1 pods waits: they do not tolerate the nodes they choose: gpu has the taint nvidia.com/gpu, which the"
        " pod does not tolerate",
    ),
    "more GPUs than a machine has": (
        asking(pod("w", nodeSelector={"flotilla.dev/pool": "gpu"}), gpu="16"),
        "1 of its 1 pods waits: one pod asks for more than a machine has:"
        " gpu offers 8 GPUs a node, and the pod requests 16 GPUs",
    ),
    "more memory than any machine has": (
        asking(pod("w"), memory="2000Gi"),
        "cpu offers 100Gi a node, and the pod requests 2000Gi; gpu offers 1000Gi a node, and the pod requests 2000Gi",
    ),
    "platform's nodes": (
        pod("w", nodeSelector={"flotilla.dev/purpose": "system"}),
        "no pool is what they choose: cpu has flotilla.dev/purpose=cpu, and the pod selects system",
    ),
}


@pytest.mark.parametrize("case", UNFIT)
def test_pods_that_no_pool_takes_are_told_what_stands_in_their_way(case: str) -> None:
    waiting, said = UNFIT[case]
    status, what = told(cluster(waiting))

    assert status == "fail"
    assert said in what


BEFORE_POOLS = {
    "a gate": (
        pod("w", said="", schedulingGates=[{"name": "kueue.x-k8s.io/topology"}]),
        ("ok", "held back by kueue.x-k8s.io/topology until it lifts the gate"),
    ),
    "a scheduler that is not there": (
        pod("w", said="", schedulerName="volcano"),
        ("fail", "no scheduler called volcano has looked at them"),
    ),
    "a claim that is not bound": (
        pod("w", said="pod has unbound immediate PersistentVolumeClaims."),
        ("fail", "their volumes keep them: pod has unbound immediate PersistentVolumeClaims"),
    ),
    "one node": (
        pod(
            "w",
            said="Insufficient memory",
            affinity={
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
                        ]
                    }
                }
            },
        ),
        ("warn", "each belongs on one node, n1 among them, where there is no room: Insufficient memory"),
    ),
    "a pod made just now": (
        pod("w", seconds=3, said=""),
        ("ok", "made less than a minute ago; gpu would take them"),
    ),
}


@pytest.mark.parametrize("case", BEFORE_POOLS)
def test_what_keeps_pods_before_any_pool_is_named(case: str) -> None:
    waiting, (status, what) = BEFORE_POOLS[case]

    assert told(cluster(waiting)) == (status, f"1 of its 1 pods waits: {what}")


def test_pods_that_preempt_others_wait_for_these_to_leave() -> None:
    waiting = pod("w")
    waiting["status"]["nominatedNodeName"] = "n2"

    assert told(cluster(waiting)) == ("ok", "1 of its 1 pods waits: pods of lower priority are leaving n2 for them")


def test_where_nothing_is_known_the_last_words_of_scheduler_and_autoscaler_are_shown() -> None:
    events = listed(
        event("w", "Failed to schedule pod, old words", seconds=90),
        event("w", "Failed to schedule pod, did not fit, requirements=a In [b], c In [d], resources={}"),
        event("w", "0/4 nodes are available.", who="default-scheduler"),
    )
    status, what = told(cluster(pod("w"), events=events))

    assert status == "warn"
    assert what == (
        "1 of its 1 pods waits: gpu would take them, but no node has come: "
        "Failed to schedule pod, did not fit; 0/4 nodes are available"
    )


def test_pods_of_one_job_with_different_causes_are_counted_apart() -> None:
    waiting = [pod("m", role="master", tolerations=[]), pod("w1"), pod("w2")]
    found = looked(cluster(*waiting, claims=listed(claim("gpu-aaaaa"))))

    assert [(each.status, each.what.partition(":")[0]) for each in found] == [
        ("fail", "1 of its 3 pods waits"),
        ("ok", "2 of its 3 pods wait"),
    ]


@pytest.mark.parametrize(
    ("metadata", "subject"),
    [
        ({"ownerReferences": []}, "Pod vision/w"),
        ({"labels": {"jobset.sigs.k8s.io/jobset-name": "set"}}, "JobSet vision/set"),
        (
            {
                "ownerReferences": [{"kind": "ReplicaSet", "name": "web-7d9", "controller": True}],
                "labels": {"pod-template-hash": "7d9"},
            },
            "Deployment vision/web",
        ),
    ],
)
def test_pods_are_called_by_what_people_made(metadata: Json, subject: str) -> None:
    waiting = pod("w", tolerations=[])
    waiting["metadata"] |= metadata
    [found] = looked(cluster(waiting))

    assert found.subject == f"cluster c {subject}"


def test_pods_of_the_platform_may_use_its_own_nodes() -> None:
    waiting = asking(pod("w", tolerations=TOLERANT, nodeSelector={"flotilla.dev/purpose": "system"}), cpu="1")
    waiting["metadata"] |= {"namespace": "kubeflow"}
    api = cluster(waiting)
    api.objects |= {path.replace("/vision/", "/kubeflow/"): answer for path, answer in api.objects.items()}
    api.objects["/api/v1/nodes"] = listed(*(node(f"s{index}", "system") for index in range(3)))
    [found] = looked(api)

    assert (found.status, found.what) == ("warn", "1 of its 1 pods waits: all 3 nodes of system are taken")


def test_only_some_jobs_are_explained_where_many_wait() -> None:
    waiting: list[Json] = []
    for index in range(25):
        each = pod(f"w{index}", tolerations=[])
        each["metadata"]["ownerReferences"] = []
        waiting.append(each)
    found = looked(cluster(*waiting))

    assert len(found) == 21
    assert found[-1].what == "5 more jobs wait"


def test_a_cluster_where_no_pod_waits_is_asked_nothing_else() -> None:
    api = cluster(placed(pod("w"), "n1"))

    assert [each.what for each in looked(api)] == ["no pod waits for a node"]
    assert CLAIMS not in api.asked
