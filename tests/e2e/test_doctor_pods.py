"""`flotilla doctor` says why jobs wait, on a cluster with the real scheduler, Karpenter and training operator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.components.cluster.node_pools import controller, kwok
from infra.core import names
from sandbox.api import Json
from tests.e2e.diagnosis import diagnose_pools
from tests.e2e.node_pools import A100, GPU, H100, ZONES, Pools, pytorch_job
from tests.e2e.objects import pod

pytestmark = pytest.mark.e2e

TOLERANT = [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}]
SCALE = ("-n", controller.NAMESPACE, "scale", "deployment", controller.NAME)
END = (
    *("-n", controller.NAMESPACE, "wait", "pod", "-l", f"app.kubernetes.io/name={controller.NAME}"),
    *("--for=delete", "--timeout=50s"),
)


@pytest.fixture(autouse=True)
def empty(pools: Pools) -> Iterator[None]:
    """Leave the pools as they were, so that tests do not depend on one another."""
    yield
    pools.run_out_of()
    pools.kubectl("-n", pools.namespace, "delete", "pods,resourcequotas", "--all", "--grace-period=0")
    pools.remove_jobs()
    for pool in (A100, H100):
        pools.eventually(lambda pool=pool: pools.is_empty(pool), "the pools' return to zero", 180)


def asks(name: str, pool: str, *, gpus: int = 8, tolerations: list[Json] | None = None) -> Json:
    """Return a pod that asks for GPUs of a pool."""
    wanted = pod(
        name, nodeSelector={names.NODE_POOL: pool}, tolerations=TOLERANT if tolerations is None else tolerations
    )
    wanted["spec"]["containers"][0]["resources"] = {"limits": {GPU: str(gpus)}}
    return wanted


def submit(pools: Pools, *pods: Json) -> None:
    with pools.sandbox.api() as api:
        for each in pods:
            api.create(f"/api/v1/namespaces/{pools.namespace}/pods", each)


def test_doctor_says_why_no_pool_takes_a_pod(pools: Pools, tmp_path: Path) -> None:
    strange = asks("strange", A100)
    strange["spec"]["nodeSelector"]["example.com/disk"] = "fast"
    submit(pools, asks("lost", "gpu-b200"), asks("shy", A100, tolerations=[]), asks("huge", A100, gpus=16), strange)

    told = diagnose_pools(pools, tmp_path)

    assert {told[f"Pod {name}"]["check"] for name in ("lost", "shy", "huge", "strange")} == {"cluster-pods"}
    assert told["Pod lost"]["what"].startswith(f"waits: there is no pool gpu-b200 for them; there are system, {A100}")
    assert told["Pod shy"]["what"] == (
        "waits: they do not tolerate the nodes they choose: "
        f"{A100} has the taint {GPU}, which the pod does not tolerate"
    )
    assert told["Pod huge"]["what"] == (
        f"waits: one pod asks for more than a machine has: {A100} offers 8 GPUs a node, and the pod requests 16 GPUs"
    )
    assert told["Pod strange"]["what"] == (
        f"waits: no pool is what they choose: {A100} has no example.com/disk, and the pod selects fast"
    )


def test_doctor_names_machines_that_are_sold_out(pools: Pools, tmp_path: Path) -> None:
    pools.run_out_of({"instanceType": "sandbox.h100"})
    submit(pools, asks("early", H100))
    market = "/api/v1/events?fieldSelector=involvedObject.kind=NodeClaim,reason=InsufficientCapacityError"
    pools.eventually(lambda: bool(pools.get(market)["items"]), "the market's answer")
    pools.eventually(lambda: not pools.claims(H100), "the end of the claim that failed")

    told = diagnose_pools(pools, tmp_path)["Pod early"]

    assert told["status"] == "warn"
    assert told["what"].startswith(
        f"waits: sandbox.h100 of {H100} is sold out in {', '.join(ZONES)}, spot or on demand ("
    )


def test_doctor_finds_no_fault_while_a_machine_is_on_its_way(pools: Pools, tmp_path: Path) -> None:
    def boots_after(span: str) -> None:
        change = {"spec": {"template": {"metadata": {"annotations": {kwok.BOOTS_AFTER: span}}}}}
        done = pools.kubectl("patch", "nodepool", A100, "--type=merge", "-p", json.dumps(change))
        assert done.returncode == 0, done.stderr

    boots_after("10m")
    try:
        submit(pools, asks("patient", A100))
        pools.eventually(lambda: bool(pools.claims(A100)), "a machine")
        told = diagnose_pools(pools, tmp_path)["Pod patient"]
    finally:
        pools.kubectl("-n", pools.namespace, "delete", "pod", "patient", "--grace-period=0")
        boots_after("4s")
        pools.kubectl("delete", "nodeclaims", "-l", f"karpenter.sh/nodepool={A100}", "--wait=false")

    assert (told["status"], told["what"]) == ("ok", f"waits: 1 machine of {A100} is on the way")


def test_doctor_sees_that_nobody_makes_nodes(pools: Pools, tmp_path: Path) -> None:
    assert pools.kubectl(*SCALE, "--replicas=0").returncode == 0
    try:
        ended = pools.kubectl(*END)
        assert ended.returncode == 0, ended.stderr
        submit(pools, asks("alone", A100))

        told = diagnose_pools(pools, tmp_path)["Pod alone"]
    finally:
        assert pools.kubectl(*SCALE, "--replicas=2").returncode == 0
        pools.eventually(lambda: pools.autoscaler.leader() in pools.autoscaler.pods(), "the autoscaler's return", 120)

    assert told["status"] == "fail"
    assert told["what"] == (
        f"waits: {A100} would grow, but the autoscaler is not at work: no replica of karpenter/karpenter is ready"
    )


def test_doctor_names_the_quota_that_keeps_a_jobs_pods_from_being_made(pools: Pools, tmp_path: Path) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "quota"},
        "spec": {"hard": {f"requests.{GPU}": "16"}},
    }
    with pools.sandbox.api() as api:
        api.create(f"/api/v1/namespaces/{pools.namespace}/resourcequotas", quota)
    job = pools.start(pytorch_job("greedy", pool=A100, workers=3))
    refusals = f"/api/v1/namespaces/{pools.namespace}/events?fieldSelector=reason=FailedCreatePod"
    pools.eventually(lambda: bool(pools.get(refusals)["items"]), "the refusal of a pod")
    pools.eventually(lambda: pools.phases(job) == ["Running"] * 2, "two running pods", 180)

    told = diagnose_pools(pools, tmp_path)["PyTorchJob greedy"]

    assert (told["check"], told["status"]) == ("cluster-refused-pods", "warn")
    assert told["what"] == f"the quota of {pools.namespace} is used up: {GPU}: 8 for a pod, 16 of 16 used"
