"""Pods are restricted by default, spread, drained and probed; each privilege is given only where it is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from infra.core.parts import (
    FromField,
    FromResource,
    Permissions,
    Privileges,
    Probe,
    Probes,
    Rule,
    Volume,
    health,
    metrics,
    webhook,
)
from policies.rules import pod_security
from tests.unit.core.examples import NAME, container, resources, workload

FEATURES: dict[str, dict[str, Any]] = {
    "nothing more": {},
    "command": {"command": ("/boat",), "arguments": ("--float",)},
    "environment": {"environment": {"A": "b", "POD": FromField(path="metadata.name")}},
    "served port": {"ports": [metrics(8080, service_port=80), health(8081)]},
    "webhook": {"ports": [webhook(9443), health(8081)]},
    "user": {"user": 1000},
    "writable root": {"writable_root": True},
    "volumes": {
        "volumes": [
            Volume(name="s", path="/s", secret="s"),
            Volume(name="c", path="/c", config_map="c"),
            Volume(name="t", path="/t", token_audience="sea"),
            Volume(name="m", path="/m", memory=True, read_only=False),
            Volume(name="e", path="/e", read_only=False),
        ]
    },
}


def pod(changes: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
    """Return the pod's specification of a workload whose container is changed so."""
    return template(changes, **arguments)["spec"]


def template(changes: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
    recording = workload(container=container(**(changes or {})), **arguments)
    return recording.one("Deployment")["spec"]["template"]


def only(changes: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    """Return the container of such a pod."""
    (declared,) = pod(changes, **arguments)["containers"]
    return declared


@pytest.mark.parametrize("feature", FEATURES)
def test_pod_is_restricted_whatever_it_has(feature: str) -> None:
    recording = workload(container=container(**FEATURES[feature]))

    assert pod_security.check(recording.one("Deployment")) == []


@pytest.mark.parametrize("feature", FEATURES)
def test_pod_asks_for_restriction_itself(feature: str) -> None:
    spec = pod(FEATURES[feature])
    (declared,) = spec["containers"]

    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert declared["securityContext"]["allowPrivilegeEscalation"] is False
    assert declared["securityContext"]["runAsNonRoot"] is True
    assert declared["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert declared["securityContext"]["readOnlyRootFilesystem"] is (feature != "writable root")
    assert "hostNetwork" not in spec
    assert "privileged" not in declared["securityContext"]


def test_user_owns_what_it_mounts() -> None:
    spec = pod({"user": 1000})

    assert spec["containers"][0]["securityContext"]["runAsUser"] == 1000
    assert spec["securityContext"]["fsGroup"] == 1000


def test_privileges_are_given_as_asked_and_with_their_reason() -> None:
    privileges = Privileges(
        reason="It steers.", privileged=True, capabilities=("NET_ADMIN",), run_as_root=True, host_network=True
    )
    deployment = workload(privileges=privileges).one("Deployment")
    spec = deployment["spec"]["template"]["spec"]
    security = spec["containers"][0]["securityContext"]

    assert deployment["metadata"]["annotations"]["flotilla.dev/privileged-reason"] == "It steers."
    assert security["privileged"] is True
    assert security["capabilities"] == {"drop": ["ALL"], "add": ["NET_ADMIN"]}
    assert security["runAsNonRoot"] is spec["securityContext"]["runAsNonRoot"] is False
    assert "allowPrivilegeEscalation" not in security
    assert spec["hostNetwork"] is True


def test_one_privilege_brings_no_other() -> None:
    spec = pod(privileges=Privileges(reason="It listens on port 80.", capabilities=("NET_BIND_SERVICE",)))
    security = spec["containers"][0]["securityContext"]

    assert security["allowPrivilegeEscalation"] is False
    assert security["runAsNonRoot"] is spec["securityContext"]["runAsNonRoot"] is True
    assert "privileged" not in security
    assert "hostNetwork" not in spec


def test_replicas_spread_strictly_over_zones_and_hosts() -> None:
    constraints = pod()["topologySpreadConstraints"]

    assert [constraint["topologyKey"] for constraint in constraints] == [
        "topology.kubernetes.io/zone",
        "kubernetes.io/hostname",
    ]
    for constraint in constraints:
        assert constraint["maxSkew"] == 1
        assert constraint["whenUnsatisfiable"] == "DoNotSchedule"
        assert constraint["nodeTaintsPolicy"] == "Honor"
        assert constraint["matchLabelKeys"] == ["pod-template-hash"]
        assert constraint["labelSelector"] == {"matchLabels": {"app.kubernetes.io/name": NAME}}


@pytest.mark.parametrize("ports", [[metrics(8080, service_port=80)], [webhook(9443)]])
def test_served_pod_goes_on_serving_while_it_is_forgotten(ports: list[Any]) -> None:
    assert only({"ports": ports, "probes": None})["lifecycle"] == {"preStop": {"sleep": {"seconds": 5}}}


def test_pod_that_serves_nobody_ends_at_once() -> None:
    assert "lifecycle" not in only({"ports": [health(8081), metrics(8080)]})


def test_metrics_are_announced_to_prometheus() -> None:
    assert template({"ports": [health(8081), metrics(8080, path="/stats")]})["metadata"]["annotations"] == {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": "8080",
        "prometheus.io/path": "/stats",
    }


def test_pod_without_metrics_is_not_announced() -> None:
    assert "annotations" not in template()["metadata"]


def test_probes_are_declared_as_written() -> None:
    probes = Probes(
        readiness=Probe(path="/ready", port="http-health", period_seconds=5),
        liveness=Probe(path="/alive", port="http-health", delay_seconds=15, failures=6),
        startup=Probe(path="/up", port="http-health", scheme="HTTPS"),
    )
    declared = only({"probes": probes})

    assert declared["readinessProbe"]["httpGet"] == {"path": "/ready", "port": "http-health", "scheme": "HTTP"}
    assert declared["readinessProbe"]["periodSeconds"] == 5
    assert (declared["livenessProbe"]["initialDelaySeconds"], declared["livenessProbe"]["failureThreshold"]) == (15, 6)
    assert declared["startupProbe"]["httpGet"]["scheme"] == "HTTPS"


def test_container_without_probes_declares_none() -> None:
    assert not {"readinessProbe", "livenessProbe", "startupProbe"} & only({"probes": None}).keys()


def test_environment_comes_from_text_field_or_resource() -> None:
    environment = {"A": "b", "POD": FromField(path="metadata.name"), "MEMORY": FromResource(resource="limits.memory")}

    assert only({"environment": environment})["env"] == [
        {"name": "A", "value": "b"},
        {"name": "POD", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
        {"name": "MEMORY", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory"}}},
    ]


@pytest.mark.parametrize(
    ("volume", "source"),
    [
        (
            Volume(name="v", path="/v", secret="s", optional=True),
            {"secret": {"secretName": "s", "defaultMode": 0o440, "optional": True}},
        ),
        (Volume(name="v", path="/v", secret="s"), {"secret": {"secretName": "s", "defaultMode": 0o440}}),
        (Volume(name="v", path="/v", config_map="c"), {"configMap": {"name": "c"}}),
        (Volume(name="v", path="/v", host_path="/dev"), {"hostPath": {"path": "/dev", "type": "DirectoryOrCreate"}}),
        (Volume(name="v", path="/v", memory=True), {"emptyDir": {"medium": "Memory"}}),
        (Volume(name="v", path="/v"), {"emptyDir": {}}),
        (
            Volume(name="v", path="/v", token_audience="sea", token_path="pass"),
            {
                "projected": {
                    "sources": [
                        {"serviceAccountToken": {"audience": "sea", "expirationSeconds": 43200, "path": "pass"}}
                    ]
                }
            },
        ),
    ],
)
def test_volume_has_the_source_it_names(volume: Volume, source: dict[str, Any]) -> None:
    spec = pod({"volumes": [volume]})

    assert spec["volumes"] == [{"name": "v", **source}]
    assert spec["containers"][0]["volumeMounts"] == [{"name": "v", "mountPath": "/v", "readOnly": True}]


def test_resources_are_declared_as_set() -> None:
    assert only({}, resources=resources(cpu="2"))["resources"] == {
        "requests": {"cpu": "100m", "memory": "64Mi"},
        "limits": {"cpu": "2", "memory": "128Mi"},
    }


def test_no_limit_of_cpu_unless_it_is_set() -> None:
    assert only({})["resources"]["limits"] == {"memory": "128Mi"}


@pytest.mark.parametrize("width", ["cluster", "namespace"])
def test_token_is_mounted_only_where_something_is_permitted(width: str) -> None:
    rules: dict[str, Any] = {width: [Rule(groups=("",), resources=("pods",), verbs=("get",))]}

    assert pod()["automountServiceAccountToken"] is False
    assert pod(permissions=Permissions(**rules))["automountServiceAccountToken"] is True


def test_platform_goes_before_teams_and_prefers_its_own_nodes() -> None:
    spec = pod()
    (preferred,) = spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]

    assert spec["priorityClassName"] == "flotilla-platform"
    assert preferred["preference"]["matchExpressions"] == [
        {"key": "flotilla.dev/purpose", "operator": "In", "values": ["system"]}
    ]
