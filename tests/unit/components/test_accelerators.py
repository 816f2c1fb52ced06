"""Accelerators' agents: on the right nodes, with the right sharing, and with no more of the host than they need."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import pulumi
import pytest
import yaml

from infra.components.cluster.gpu.stack import declare_accelerators
from infra.core.provider import cluster_provider
from infra.settings import Settings
from infra.settings.devices import devices_of
from tests.unit.core.parsing import everything, parse
from tests.unit.core.recording import Recording, record

NVIDIA = ("nvidia-device-plugin", "gpu-feature-discovery")
GROUPS = ("", "-cut", "-turns", "-mps")


def settings(**nvidia: Any) -> Settings:
    """Return the settings of everything, with some of NVIDIA's changed."""
    values = everything().model_dump(mode="json")
    values["cluster"]["gpu"]["nvidia"] |= nvidia
    return parse(Settings, **values)


def declared(chosen: Settings | None = None) -> Recording:
    return _declared(chosen) if chosen else _everything()


@cache
def _everything() -> Recording:
    return _declared(everything())


def _declared(chosen: Settings) -> Recording:
    cluster = chosen.cluster
    return record(lambda: declare_accelerators(cluster, pulumi.ResourceOptions(provider=cluster_provider("test"))))


def pod(name: str, chosen: Settings | None = None) -> dict[str, Any]:
    return declared(chosen).one("DaemonSet", name)["spec"]["template"]["spec"]


def environment(name: str) -> dict[str, str | None]:
    (container,) = pod(name)["containers"]
    return {each["name"]: each.get("value") for each in container["env"]}


def nodes(name: str) -> list[list[tuple[str, str, list[str]]]]:
    affinity = pod(name)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return [
        [(each["key"], each["operator"], each["values"]) for each in term["matchExpressions"]]
        for term in affinity["nodeSelectorTerms"]
    ]


@pytest.mark.parametrize("agent", NVIDIA)
def test_whole_gpus_are_served_wherever_they_are_but_on_pools_that_share_or_are_of_other_vendors(agent: str) -> None:
    others = ("flotilla.dev/pool", "NotIn", ["gpu-amd", "gpu-cut", "gpu-mps", "gpu-turns", "neuron"])

    assert nodes(agent) == [
        [("flotilla.dev/purpose", "In", ["gpu"]), others],
        [("nvidia.com/gpu.present", "In", ["true"]), others],
        [("feature.node.kubernetes.io/pci-10de.present", "In", ["true"]), others],
    ]


@pytest.mark.parametrize("agent", NVIDIA)
@pytest.mark.parametrize("way", ["cut", "turns", "mps"])
def test_pools_that_share_are_served_by_an_agent_of_their_own(agent: str, way: str) -> None:
    assert nodes(f"{agent}-{way}") == [[("flotilla.dev/pool", "In", [f"gpu-{way}"])]]


def test_gpus_are_measured_however_they_are_shared() -> None:
    for term in nodes("dcgm-exporter"):
        assert term[1:] == [("flotilla.dev/pool", "NotIn", ["gpu-amd", "neuron"])]


@pytest.mark.parametrize(("plugin", "pool"), [("amd-device-plugin", "gpu-amd"), ("neuron-device-plugin", "neuron")])
def test_other_vendors_plugins_run_on_their_pools(plugin: str, pool: str) -> None:
    assert nodes(plugin) == [[("flotilla.dev/pool", "In", [pool])]]


def test_agents_tolerate_their_vendors_taint_and_those_of_its_pools() -> None:
    values = everything().model_dump(mode="json")
    gpu = next(pool for pool in values["cluster"]["nodePools"] if pool["name"] == "gpu")
    gpu["taints"].append({"key": "team", "value": "vision", "effect": "NoExecute"})
    chosen = parse(Settings, **values)

    for name in ("nvidia-device-plugin", "gpu-feature-discovery", "dcgm-exporter"):
        assert [(each["key"], each["effect"]) for each in pod(name, chosen)["tolerations"]] == [
            ("nvidia.com/gpu", "NoSchedule"),
            ("team", "NoExecute"),
        ]
    assert [each["key"] for each in pod("amd-device-plugin", chosen)["tolerations"]] == ["amd.com/gpu"]
    assert [each["key"] for each in pod("neuron-device-plugin", chosen)["tolerations"]] == ["aws.amazon.com/neuron"]


CONFIGS: dict[str, dict[str, Any]] = {
    "cut": {"version": "v1", "flags": {"migStrategy": "mixed", "failOnInitError": False}},
    "turns": {
        "version": "v1",
        "flags": {"migStrategy": "none", "failOnInitError": False},
        "sharing": {
            "timeSlicing": {
                "renameByDefault": True,
                "failRequestsGreaterThanOne": True,
                "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
            }
        },
    },
    "mps": {
        "version": "v1",
        "flags": {"migStrategy": "none", "failOnInitError": False},
        "sharing": {
            "mps": {"renameByDefault": True, "resources": [{"name": "nvidia.com/gpu", "replicas": 8}]},
        },
    },
}


@pytest.mark.parametrize("agent", NVIDIA)
def test_each_way_of_sharing_is_a_file_that_its_agent_reads(agent: str) -> None:
    recording = declared()
    data = recording.one("ConfigMap", f"{agent}-config")["data"]

    assert {name: yaml.safe_load(text) for name, text in data.items()} == {
        f"{way}.yaml": config for way, config in CONFIGS.items()
    }
    for way in CONFIGS:
        spec = pod(f"{agent}-{way}")
        assert environment(f"{agent}-{way}")["CONFIG_FILE"] == f"/config/{way}.yaml"
        assert f"{agent}-config" in [volume.get("configMap", {}).get("name") for volume in spec["volumes"]]
        assert recording.resource("ConfigMap", f"{agent}-config").urn in recording.awaited(
            "DaemonSet", f"{agent}-{way}"
        )
    assert "CONFIG_FILE" not in environment(agent)


def test_agent_is_replaced_when_its_own_file_changes_and_only_then() -> None:
    def digests(chosen: Settings) -> list[dict[str, str]]:
        recording = declared(chosen)
        return [
            recording.one("DaemonSet", f"nvidia-device-plugin-{way}")["spec"]["template"]["metadata"]["annotations"]
            for way in ("turns", "mps")
        ]

    ways = everything().model_dump(mode="json")["cluster"]["gpu"]["nvidia"]["sharing"]
    before, after = digests(everything()), digests(settings(sharing=[*ways[:2], {**ways[2], "replicas": 9}]))

    assert before[0] == after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize("fails", [True, False])
def test_plugin_waits_for_the_driver_or_fails_as_the_settings_say(fails: bool) -> None:
    plugin = everything().cluster.gpu.nvidia.device_plugin.model_dump(mode="json") | {"failOnInitError": fails}
    (container,) = pod("nvidia-device-plugin", settings(devicePlugin=plugin))["containers"]

    assert {"name": "FAIL_ON_INIT_ERROR", "value": str(fails).lower()} in container["env"]


@pytest.mark.parametrize(("group", "capability"), [("", None), ("-cut", ["SYS_ADMIN"]), ("-turns", None)])
def test_only_agents_of_cut_gpus_are_shown_them_by_a_capability(group: str, capability: list[str] | None) -> None:
    for agent in NVIDIA:
        security = pod(f"{agent}{group}")["containers"][0]["securityContext"]
        monitored = environment(f"{agent}{group}").get("NVIDIA_MIG_MONITOR_DEVICES")

        assert security["capabilities"].get("add") == capability
        assert security["allowPrivilegeEscalation"] is False
        assert "privileged" not in security
        assert monitored == ("all" if capability else None)


def test_plugin_sees_just_the_kubelets_sockets_and_says_why_it_is_root() -> None:
    manifest = declared().one("DaemonSet", "nvidia-device-plugin")
    spec = manifest["spec"]["template"]["spec"]

    assert [volume["hostPath"]["path"] for volume in spec["volumes"]] == ["/var/lib/kubelet/device-plugins"]
    assert "root" in manifest["metadata"]["annotations"]["flotilla.dev/privileged-reason"]
    assert manifest["metadata"]["annotations"]["flotilla.dev/no-probes-reason"]


def test_multi_process_service_has_its_daemon_where_it_shares_gpus() -> None:
    recording = declared()
    spec = recording.one("DaemonSet", "nvidia-mps-mps")["spec"]["template"]["spec"]
    (first,) = spec["initContainers"]

    assert nodes("nvidia-mps-mps") == [[("flotilla.dev/pool", "In", ["gpu-mps"])]]
    assert first["command"] == ["mps-control-daemon", "mount-shm"]
    assert [mount.get("mountPropagation") for mount in first["volumeMounts"]] == ["Bidirectional"]
    assert {mount["name"] for mount in first["volumeMounts"]} <= {volume["name"] for volume in spec["volumes"]}
    assert first["securityContext"]["privileged"] is True
    assert spec["containers"][0]["command"] == ["mps-control-daemon"]
    assert environment("nvidia-device-plugin-mps")["MPS_ROOT"] == "/run/nvidia/mps"
    names = [each["metadata"]["name"] for each in recording.all("DaemonSet")]
    assert [name for name in names if name.startswith("nvidia-mps")] == ["nvidia-mps-mps"]


def test_exporter_is_scraped_probed_and_knows_whose_gpu_it_measures() -> None:
    template = declared().one("DaemonSet", "dcgm-exporter")["spec"]["template"]
    (container,) = template["spec"]["containers"]

    assert template["metadata"]["annotations"]["prometheus.io/port"] == "9400"
    assert container["livenessProbe"]["httpGet"]["path"] == "/health"
    assert environment("dcgm-exporter")["DCGM_EXPORTER_KUBERNETES"] == "true"
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/var/lib/kubelet/pod-resources"]


def test_agents_run_under_the_runtime_class_and_wait_for_it() -> None:
    recording = declared()
    runtime = recording.resource("RuntimeClass", "nvidia")

    assert runtime.inputs["handler"] == "nvidia"
    for name in ("nvidia-device-plugin", "nvidia-mps-mps", "gpu-feature-discovery", "dcgm-exporter"):
        assert pod(name)["runtimeClassName"] == "nvidia"
        assert runtime.urn in recording.awaited("DaemonSet", name)
    assert "runtimeClassName" not in pod("amd-device-plugin")


def test_runtime_class_of_the_platform_is_used_but_not_made() -> None:
    chosen = settings(runtimeClass={"name": "gpus", "installed": "present"})

    assert "RuntimeClass" not in declared(chosen).kinds()
    assert pod("dcgm-exporter", chosen)["runtimeClassName"] == "gpus"


def test_nodes_default_runtime_needs_no_class() -> None:
    chosen = settings(runtimeClass=None)

    assert "RuntimeClass" not in declared(chosen).kinds()
    assert "runtimeClassName" not in pod("nvidia-device-plugin", chosen)


def _present(chosen: Settings, *agents: str) -> Settings:
    nvidia = chosen.model_dump(mode="json")["cluster"]["gpu"]["nvidia"]
    return settings(**{agent: {**nvidia[agent], "installed": "present"} for agent in agents})


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("devicePlugin", "nvidia-device-plugin"),
        ("featureDiscovery", "gpu-feature-discovery"),
        ("dcgmExporter", "dcgm-exporter"),
        ("health", "gpu-problem-detector"),
    ],
)
def test_agent_that_the_platform_brings_is_left_to_it(agent: str, name: str) -> None:
    left = [each["metadata"]["name"] for each in declared(_present(everything(), agent)).all("DaemonSet")]

    assert not any(each.startswith(name) for each in left)
    assert left


def test_namespace_goes_with_the_last_agent() -> None:
    agents = ("devicePlugin", "featureDiscovery", "dcgmExporter", "health")
    spaces = declared(_present(everything(), *agents)).all("Namespace")

    assert [each["metadata"]["name"] for each in spaces] == ["amd-gpu", "aws-neuron"]


def test_vendor_that_no_pool_has_is_not_declared() -> None:
    values = everything().model_dump(mode="json")
    pools = values["cluster"]["nodePools"]
    values["cluster"]["nodePools"] = [pool for pool in pools if not pool["machine"]["gpus"]]
    values["cluster"]["gpu"]["nvidia"]["sharing"] = []

    assert declared(parse(Settings, **values)).kinds() == []


def test_node_feature_discovery_comes_as_its_chart_with_two_masters_unless_it_is_there() -> None:
    def releases(chosen: Settings) -> list[dict[str, Any]]:
        return [each.inputs for each in declared(chosen).resources if each.type == "kubernetes:helm.sh/v3:Release"]

    (release,) = releases(everything())
    values = cast("dict[str, Any]", release["values"])
    assert release["chart"] == "node-feature-discovery"
    assert values["master"]["replicaCount"] == 2
    assert values["priorityClassName"] == "flotilla-platform"
    assert values["worker"]["config"]["sources"]["pci"]["deviceLabelFields"] == ["vendor"]
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in values["worker"]["tolerations"]

    discovery = everything().cluster.gpu.nvidia.feature_discovery.model_dump(mode="json")
    assert releases(settings(featureDiscovery={**discovery, "nodeFeatureDiscovery": "present"})) == []


def test_neuron_may_keep_which_devices_it_handed_out() -> None:
    rules = declared().one("ClusterRole", "neuron-device-plugin")["rules"]

    assert {"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["patch", "update"]} in rules
    assert not any("secrets" in rule["resources"] for rule in rules)


@pytest.mark.parametrize(("rename", "resource"), [(True, "nvidia.com/gpu.shared"), (False, "nvidia.com/gpu")])
def test_parts_keep_the_name_that_autoscalers_know_where_that_is_asked_for(rename: bool, resource: str) -> None:
    way = {"name": "turns", "kind": "time-slicing", "pools": ["gpu-turns"], "replicas": 4, "rename": rename}
    chosen = settings(sharing=[way])
    (pool,) = [pool for pool in chosen.cluster.node_pools if pool.name == "gpu-turns"]
    text = declared(chosen).one("ConfigMap", "nvidia-device-plugin-config")["data"]["turns.yaml"]

    assert devices_of(pool, chosen.cluster.gpu) == {resource: 32}
    assert yaml.safe_load(text)["sharing"]["timeSlicing"]["renameByDefault"] is rename
