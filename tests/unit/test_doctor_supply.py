"""Why pods wait for pools that would take them: limits, machines on their way or sold out, nobody who makes nodes."""

from __future__ import annotations

from typing import Any

import pytest

from ops.doctor.cluster.target import Autoscaler
from tests.unit.doctor_fakes import FakeApi
from tests.unit.doctor_pods import (
    DEPLOYMENT,
    LEASE,
    TRAIN,
    ago,
    claim,
    cluster,
    event,
    listed,
    looked,
    node,
    node_pool,
    placed,
    pod,
    target,
    told,
)

Json = dict[str, Any]

FULL = {"nodes": listed(*(node(f"n{index}") for index in range(4)))}
BUSY = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu"


def workers(count: int) -> list[Json]:
    return [pod(f"w{index}", said=BUSY) for index in range(count)]


def of_somebody_else(item: Json) -> Json:
    metadata = {**item["metadata"], "ownerReferences": [{"kind": "Job", "name": "other", "controller": True}]}
    return {**item, "metadata": metadata}


def test_a_job_beyond_the_pools_limit_is_told_the_limit_and_that_it_never_fits() -> None:
    running = [placed(each, f"n{index}") for index, each in enumerate(workers(4))]
    api = cluster(
        *running, pod("w4"), pod("w5"), **FULL, claims=listed(*(claim(f"gpu-{i}", joined=True) for i in "abcd"))
    )
    [found] = looked(api)

    assert (found.status, found.subject) == ("fail", TRAIN)
    assert found.what == (
        "2 of its 6 pods wait: gpu is at its limit of 4 nodes;"
        " of the whole job only 4 of its 6 pods fit at once: gpu has at most 4 nodes"
    )
    assert found.run
    assert "`nodes.max` of gpu" in found.run


def test_a_job_that_others_leave_no_room_is_told_to_wait() -> None:
    others = [of_somebody_else(placed(each, f"n{index}")) for index, each in enumerate(workers(4))]

    assert told(cluster(*others, pod("w4"), **FULL)) == (
        "warn",
        "1 of its 1 pods waits: gpu is at its limit of 4 nodes",
    )


def test_a_limit_that_is_not_applied_yet_is_told_apart() -> None:
    api = cluster(pod("w"), nodes=listed(node("n1")), pools=listed(node_pool("gpu", nodes=1)))

    assert told(api)[1].endswith("gpu is at its limit of 1 node, and 4 in the settings, which are not applied")


def test_pools_of_a_fixed_size_are_full_or_broken() -> None:
    taken, broken = cluster(pod("w"), **FULL), cluster(pod("w"), nodes=listed(node("n1"), node("n2", ready=False)))

    assert told(taken, target(fixed=True)) == ("warn", "1 of its 1 pods waits: all 4 nodes of gpu are taken")
    assert told(broken, target(fixed=True)) == ("warn", "1 of its 1 pods waits: 1 of the 4 nodes of gpu are ready")


def test_machines_on_their_way_are_no_fault() -> None:
    one = cluster(pod("w"), claims=listed(claim("gpu-aaaaa"), claim("gpu-bbbbb", joined=True)))
    two = cluster(pod("w"), claims=listed(claim("gpu-aaaaa"), claim("gpu-bbbbb")))

    assert told(one) == ("ok", "1 of its 1 pods waits: 1 machine of gpu is on the way")
    assert told(two) == ("ok", "1 of its 1 pods waits: 2 machines of gpu are on the way")


@pytest.mark.parametrize(
    ("machine", "what"),
    [
        (
            claim("gpu-x", fault="UnauthorizedOperation"),
            "gpu-x of gpu cannot be made: UnauthorizedOperation: said the cloud",
        ),
        (claim("gpu-x", seconds=780), "gpu-x of gpu was made 13 minutes ago and has not joined the cluster"),
    ],
)
def test_machines_that_do_not_come_are_named(machine: Json, what: str) -> None:
    assert told(cluster(pod("w"), claims=listed(machine))) == ("warn", f"1 of its 1 pods waits: {what}")


def test_machines_of_cluster_api_are_seen_as_well() -> None:
    scaler = Autoscaler(kind="cluster-api", namespace="karpenter", name="karpenter", lease="leader", machines="m")
    made = {
        "metadata": {"name": "m-1", "labels": {"flotilla.dev/pool": "gpu"}, "creationTimestamp": ago(5)},
        "status": {"conditions": []},
    }
    api = cluster(pod("w"))
    api.objects["/apis/cluster.x-k8s.io/v1beta2/namespaces/m/machines?labelSelector=flotilla.dev/pool"] = listed(made)

    assert told(api, target(autoscaler=scaler)) == ("ok", "1 of its 1 pods waits: 1 machine of gpu is on the way")


SOLD = "1 of its 1 pods waits: g of gpu is sold out in a, b, on demand"


def test_machines_that_are_sold_out_are_named_with_what_the_cloud_said() -> None:
    said = event("gpu-abc12", "NodeClaim gpu-abc12 event: nothing of that kind", kind="NodeClaim")
    another = event("gpu-big-abc12", "NodeClaim gpu-big-abc12 event: no", kind="NodeClaim")
    former = event("gpu-abc13", "NodeClaim gpu-abc13 event: old", kind="NodeClaim", seconds=3000)

    assert told(cluster(pod("w"), sold_out=listed(former, said, another))) == ("warn", f"{SOLD} (nothing of that kind)")
    assert told(cluster(pod("w"), sold_out=listed(former, another)))[1].startswith(
        "1 of its 1 pods waits: gpu would take them, but no node has come"
    )


def test_offers_that_karpenter_has_given_up_count_as_sold_out() -> None:
    requirements = "requirements=karpenter.sh/nodepool In [gpu], x In [y], resources={}"
    said = f"Failed to schedule pod, incompatible; no instance type has the required offering, {requirements}"
    api = cluster(pod("w"), events=listed(event("w", said)))

    assert told(api) == ("warn", f"{SOLD} (the autoscaler has no offer left to try)")


@pytest.mark.parametrize(
    ("answers", "what"),
    [
        ({DEPLOYMENT: {"spec": {"replicas": 2}, "status": {}}}, "no replica of karpenter/karpenter is ready"),
        (
            {LEASE: {"spec": {"holderIdentity": "k-1", "leaseDurationSeconds": 15, "renewTime": ago(300)}}},
            "nobody leads karpenter/karpenter: k-1 has been silent for 300 s",
        ),
        ({LEASE: {"spec": {}}}, "nobody leads karpenter/karpenter: nobody holds the lease leader"),
        ({LEASE: None}, "nobody leads karpenter/karpenter: there is no lease leader"),
        ({DEPLOYMENT: None}, "karpenter/karpenter comes with Flotilla"),
    ],
)
def test_an_autoscaler_that_is_not_at_work_is_named(answers: dict[str, Json | None], what: str) -> None:
    api = cluster(pod("w"))
    api.objects |= {path: answer for path, answer in answers.items() if answer is not None}
    for path in [path for path, answer in answers.items() if answer is None]:
        del api.objects[path]
    status, found = told(api)

    assert status == "fail"
    assert f"gpu would grow, but the autoscaler is not at work: {what}" in found


def test_machines_are_not_on_their_way_while_nobody_makes_them() -> None:
    api = cluster(pod("w"), claims=listed(claim("gpu-aaaaa")), deployment={"spec": {"replicas": 2}, "status": {}})

    assert told(api)[0] == "fail"


@pytest.mark.parametrize(
    ("ready", "expected"),
    [
        (2, ("ok", "2 replicas of karpenter/karpenter are ready, and one leads")),
        (1, ("warn", "1 of 2 replicas of karpenter/karpenter are ready")),
    ],
)
def test_the_autoscalers_replicas_are_counted(ready: int, expected: tuple[str, str]) -> None:
    api = cluster(deployment={"spec": {"replicas": 2}, "status": {"readyReplicas": ready}})
    [found] = looked(api, check="cluster-autoscaler")

    assert (found.status, found.what) == expected


def test_autoscalers_that_clouds_run_are_not_looked_for() -> None:
    assert looked(FakeApi(), target(autoscaler=Autoscaler(kind="gke-compute-class")), "cluster-autoscaler") == []


@pytest.mark.parametrize(
    ("pools", "what"),
    [
        (listed(node_pool("cpu", nodes=6)), "the pool gpu is in the settings, and not in the cluster"),
        (
            listed(node_pool("gpu", nodes=4, fault="no subnets found.")),
            "the pool gpu is not ready: no subnets found",
        ),
    ],
)
def test_pools_that_the_cluster_does_not_know_are_named(pools: Json, what: str) -> None:
    assert told(cluster(pod("w"), pools=pools)) == ("fail", f"1 of its 1 pods waits: {what}")
