"""NVIDIA's device plugin: on GPU nodes, as the settings say, with no more of the host than it needs."""

from __future__ import annotations

from typing import Any

import pytest

from infra.components.cluster.device_plugin import DevicePlugin, DevicePluginArgs
from infra.settings.models.cluster import Gpu
from tests.unit.core.parsing import parse
from tests.unit.core.recording import record


def daemon_set(runtime_class: str | None = None, **plugin: Any) -> dict[str, Any]:
    device_plugin = {
        "enabled": True,
        "migStrategy": "none",
        "failOnInitError": False,
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
        **plugin,
    }
    settings = parse(Gpu, devicePlugin=device_plugin, runtimeClass=runtime_class)
    args = DevicePluginArgs(settings=settings, namespace="nvidia")
    return record(lambda: DevicePlugin("device-plugin", args)).one("DaemonSet")


def pod(runtime_class: str | None = None, **plugin: Any) -> dict[str, Any]:
    return daemon_set(runtime_class, **plugin)["spec"]["template"]["spec"]


def test_plugin_runs_on_nodes_of_a_gpu_pool_and_where_a_device_was_found() -> None:
    affinity = pod()["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    terms = [term["matchExpressions"] for term in affinity["nodeSelectorTerms"]]

    assert [(each["key"], each["values"]) for (each,) in terms] == [
        ("flotilla.dev/purpose", ["gpu"]),
        ("nvidia.com/gpu.present", ["true"]),
        ("feature.node.kubernetes.io/pci-10de.present", ["true"]),
    ]


def test_plugin_tolerates_what_keeps_others_off_gpus() -> None:
    assert pod()["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]


@pytest.mark.parametrize("strategy", ["none", "single", "mixed"])
@pytest.mark.parametrize("fails", [True, False])
def test_plugin_offers_gpus_as_the_settings_say(strategy: str, fails: bool) -> None:
    (container,) = pod(migStrategy=strategy, failOnInitError=fails)["containers"]

    assert container["env"] == [
        {"name": "MIG_STRATEGY", "value": strategy},
        {"name": "FAIL_ON_INIT_ERROR", "value": str(fails).lower()},
    ]


@pytest.mark.parametrize("runtime_class", [None, "nvidia"])
def test_plugin_runs_under_the_runtime_that_knows_gpus(runtime_class: str | None) -> None:
    assert pod(runtime_class).get("runtimeClassName") == runtime_class


def test_plugin_sees_just_the_kubelets_sockets_and_says_why_it_is_root() -> None:
    manifest = daemon_set()
    spec = manifest["spec"]["template"]["spec"]
    security = spec["containers"][0]["securityContext"]

    assert [volume["hostPath"]["path"] for volume in spec["volumes"]] == ["/var/lib/kubelet/device-plugins"]
    assert "privileged" not in security
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert "root" in manifest["metadata"]["annotations"]["flotilla.dev/privileged-reason"]
    assert manifest["metadata"]["annotations"]["flotilla.dev/no-probes-reason"]
