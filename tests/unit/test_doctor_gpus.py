"""What nodes with accelerators are expected to offer, with which driver, and what becomes of those that do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infra.settings import Settings
from ops.doctor.cluster.target import ClusterTarget, DriverNeed, GpuPool, Plugin
from ops.doctor.plan.pools import autoscaler, gpu_pools
from tests.unit.core.parsing import everything, parse
from tests.unit.doctor_fakes import FakeApi
from tests.unit.doctor_pods import NODES, ago, listed, looked

Json = dict[str, Any]

GPU, SLICE = "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"
DAEMON = "/apis/apps/v1/namespaces/nvidia/daemonsets/nvidia-device-plugin"
PLUGINS = (
    "/api/v1/namespaces/nvidia/pods?labelSelector=app.kubernetes.io/name=nvidia-device-plugin"
    "&fieldSelector=spec.nodeName=1"
)
POOL = GpuPool(
    name="gpu",
    nodes=0,
    devices={GPU: 8},
    product="NVIDIA-A100-SXM4-40GB",
    driver=DriverNeed(version=(450,), reason="the DCGM exporter measures nothing"),
)
OURS = replace(POOL, plugin=Plugin(namespace="nvidia", name="nvidia-device-plugin"))
CUT = replace(POOL, devices={SLICE: 56}, cut=True)


def node(name: str, devices: dict[str, int], *, seconds: float = 3600, **labels: str) -> Json:
    marks = {"flotilla.dev/pool": "gpu"} | {key.replace("__", "/").replace("_", "."): labels[key] for key in labels}
    return {
        "metadata": {"name": name, "labels": marks, "creationTimestamp": ago(seconds)},
        "status": {"allocatable": {"cpu": "96", **{key: str(count) for key, count in devices.items()}}},
    }


def found(check: str, pool: GpuPool, *nodes: Json, **answers: Json) -> list[tuple[str, str]]:
    """Return what a check finds of the pool's nodes."""
    objects = {NODES: listed(*nodes)} | {globals()[name.upper()]: answer for name, answer in answers.items()}
    verdicts = looked(FakeApi(objects), ClusterTarget(context="c", gpu_pools=(pool,)), check)
    assert {each.subject for each in verdicts} <= {"cluster c pool gpu"}
    return [(each.status, each.what) for each in verdicts]


@pytest.mark.parametrize(
    ("pool", "nodes", "expected"),
    [
        (POOL, [node("1", {GPU: 8})], ("ok", "1 node with 8 GPUs each")),
        (POOL, [], ("skipped", "has no nodes at the moment")),
        (replace(POOL, nodes=1), [], ("fail", "has 0 nodes, 1 are declared")),
        (POOL, [node("1", {})], ("fail", "1 of 1 nodes offer less than 8 GPUs: 1 has none")),
        (
            POOL,
            [node("1", {GPU: 8}), node("2", {GPU: 7})],
            ("fail", "1 of 2 nodes offer less than 8 GPUs: 2 has 7 GPUs"),
        ),
        (CUT, [node("1", {GPU: 8})], ("fail", f"1 of 1 nodes offer less than 56 {SLICE}: 1 has 8 GPUs")),
        (CUT, [node("1", {SLICE: 56})], ("ok", f"1 node with 56 {SLICE} each")),
        (POOL, [node("1", {}, seconds=30)], ("ok", "1 new node is starting and offers nothing yet")),
        (POOL, [node("1", {}, seconds=30)] * 2, ("ok", "2 new nodes are starting and offer nothing yet")),
        (
            POOL,
            [node("1", {GPU: 7}, seconds=30)],
            ("fail", "1 of 1 nodes offer less than 8 GPUs: 1 has 7 GPUs"),
        ),
        (POOL, [node("1", {GPU: 32})], ("warn", "1 of 1 nodes offer more than 8 GPUs: 1 has 32 GPUs")),
        (
            replace(POOL, devices={"amd.com/gpu": 8}, product=None),
            [node("1", {"amd.com/gpu": 4})],
            ("fail", "1 of 1 nodes offer less than 8 amd.com/gpu: 1 has 4 amd.com/gpu"),
        ),
    ],
)
def test_nodes_are_judged_by_what_they_offer(pool: GpuPool, nodes: list[Json], expected: tuple[str, str]) -> None:
    assert found("cluster-gpus", pool, *nodes) == [expected]


def plugin(*statuses: Json) -> Json:
    return listed({"metadata": {"name": "p"}, "status": {"containerStatuses": list(statuses)}})


@pytest.mark.parametrize(
    ("pods", "reason"),
    [
        (plugin(), "nvidia/nvidia-device-plugin runs there and finds no more"),
        (listed(), "no pod of nvidia/nvidia-device-plugin runs there"),
        (
            plugin({"ready": False, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}),
            "nvidia/nvidia-device-plugin does not run there (CrashLoopBackOff)",
        ),
        (
            plugin({"ready": False, "state": {"running": {}}}),
            "nvidia/nvidia-device-plugin does not run there (not ready)",
        ),
    ],
)
def test_what_became_of_the_device_plugin_is_told(pods: Json, reason: str) -> None:
    assert found("cluster-gpus", OURS, node("1", {}), daemon={}, plugins=pods) == [
        ("fail", f"1 of 1 nodes offer less than 8 GPUs: 1 has none; {reason}")
    ]


def test_a_device_plugin_that_is_not_installed_yet_is_no_fault() -> None:
    assert found("cluster-gpus", OURS, node("1", {})) == [
        ("skipped", "offers nothing yet: the device plugin comes with Flotilla")
    ]


def test_products_other_than_the_declared_one_are_named() -> None:
    shared = node("1", {GPU: 8}, nvidia_com__gpu_product="NVIDIA-A100-SXM4-40GB-SHARED")
    other = node("2", {GPU: 8}, nvidia_com__gpu_product="NVIDIA-A100-SXM4-80GB")

    assert found("cluster-gpus", POOL, shared) == [("ok", "1 node with 8 GPUs each")]
    assert found("cluster-gpus", POOL, shared, other)[1] == (
        "fail",
        "has NVIDIA-A100-SXM4-80GB, and NVIDIA-A100-SXM4-40GB is declared",
    )


NEEDS = replace(POOL, driver=DriverNeed(version=(575, 51, 3), reason="teams' images do not run"))


def driven(name: str, driver: str) -> Json:
    made = node(name, {GPU: 8})
    made["metadata"]["labels"]["nvidia.com/cuda.driver-version.full"] = driver
    return made


@pytest.mark.parametrize(
    ("driver", "status"),
    [
        ("575.51.03", "ok"),
        ("575.51.02", "fail"),
        ("580.65.06", "ok"),
        ("570.133.20", "fail"),
        ("580", "ok"),
        ("575", "fail"),
    ],
)
def test_drivers_are_compared_number_by_number(driver: str, status: str) -> None:
    [(judged, what)] = found("cluster-gpu-drivers", NEEDS, driven("1", driver))

    assert judged == status
    assert f"driver {driver}" in what
    assert "575.51.03" in what


def test_drivers_of_a_pool_are_told_apart() -> None:
    former = node("3", {GPU: 8}, nvidia_com__cuda_driver_major="470", nvidia_com__cuda_driver_minor="57")

    assert found(
        "cluster-gpu-drivers", NEEDS, driven("1", "580.65.06"), driven("2", "580.65.06"), former, node("4", {})
    ) == [
        ("fail", "1 of 4 nodes have driver 470.57: with one before 575.51.03, teams' images do not run"),
        ("ok", "2 of 4 nodes have driver 580.65.06; 575.51.03 is needed"),
        ("skipped", "1 of 4 nodes do not tell their driver yet"),
    ]


def cut(name: str, state: str, wanted: str = "all-1g.5gb", **labels: str) -> Json:
    made = node(name, {}, nvidia_com__mig_config=wanted, nvidia_com__mig_config_state=state)
    made["metadata"]["labels"] |= {key.replace("__", "/").replace("_", "."): labels[key] for key in labels}
    return made


@pytest.mark.parametrize(
    ("pool", "nodes", "expected"),
    [
        (CUT, [cut("1", "failed")], [("fail", "1 could not be cut as all-1g.5gb")]),
        (CUT, [cut("1", "pending")], [("ok", "1 of 1 nodes are being cut (pending)")]),
        (
            CUT,
            [cut("1", "rebooting"), cut("2", "success")],
            [
                ("ok", "1 of 2 nodes are being cut (rebooting)"),
                ("ok", "1 of 2 nodes are cut"),
            ],
        ),
        (CUT, [node("1", {}, nvidia_com__mig_capable="false")], [("fail", "the GPUs of 1 cannot be cut")]),
        (POOL, [cut("1", "failed")], [("fail", "1 could not be cut as all-1g.5gb")]),
        (POOL, [cut("1", "success")], [("warn", "1 are cut into parts, and the settings share no GPUs of the pool")]),
        (POOL, [cut("1", "success", "all-disabled")], []),
        (POOL, [node("1", {GPU: 8})], []),
    ],
)
def test_cutting_gpus_is_followed(pool: GpuPool, nodes: list[Json], expected: list[tuple[str, str]]) -> None:
    assert found("cluster-gpu-parts", pool, *nodes) == expected


def expected_of(oldest_driver: str | None = None) -> dict[str, GpuPool]:
    values = everything().model_dump(mode="json")
    values["cluster"]["gpu"]["nvidia"]["oldestDriver"] = oldest_driver
    return {pool.name: pool for pool in gpu_pools(parse(Settings, **values).cluster)}


def test_pools_are_expected_to_offer_what_the_settings_make_of_them() -> None:
    pools = expected_of()

    assert pools["gpu"].devices == {GPU: 8}
    assert pools["gpu"].plugin == Plugin(namespace="nvidia", name="nvidia-device-plugin")
    assert (pools["gpu-cut"].devices, pools["gpu-cut"].cut) == ({"nvidia.com/mig-3g.20gb": 8, SLICE: 32}, True)
    assert pools["gpu-turns"].plugin == Plugin(namespace="nvidia", name="nvidia-device-plugin-turns")
    assert pools["gpu-amd"].devices == {"amd.com/gpu": 8}
    assert pools["gpu-amd"].plugin == Plugin(namespace="amd-gpu", name="amd-device-plugin")
    assert pools["gpu-amd"].driver is None
    assert pools["neuron"].plugin == Plugin(namespace="aws-neuron", name="neuron-device-plugin")


def test_the_newest_need_decides_which_driver_is_old() -> None:
    pools = expected_of()
    assert str(pools["gpu"].driver) == "450"
    assert str(pools["gpu-cut"].driver) == "450.80.02"

    pools = expected_of("580.65")
    assert {str(pool.driver) for pool in pools.values() if pool.driver} == {"580.65"}


def test_karpenter_is_looked_for_where_it_runs() -> None:
    found = autoscaler(everything().cluster)

    assert (found.kind, found.namespace, found.name, found.lease) == (
        "karpenter",
        "karpenter",
        "karpenter",
        "karpenter-leader-election",
    )
