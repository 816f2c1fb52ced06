"""What objects name is there: roles, accounts, priorities, volumes, services, ports and the pods they select."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from infra.settings import environments
from tests.golden.golden import path_of

Manifest = dict[str, Any]
Reference = tuple[str, str, str]
"""Kind, namespace (empty where it has none) and name of an object."""

MADE_AT_RUN_TIME: set[Reference] = {
    ("ConfigMap", "istio-system", "istio-ca-root-cert"),  # istiod
    ("Secret", "flotilla-data", "events-cluster-ca-cert"),  # Strimzi
}
WITH_PODS = ("Deployment", "DaemonSet", "StatefulSet", "Job")
OPERATED = ("Cluster", "HelmRelease", "MySQLCluster", "PerconaXtraDBCluster", "RabbitmqCluster")
"""Kinds whose operators make the pods, which a policy or budget of the same name selects."""

OF_KUBERNETES: set[Reference] = {("PriorityClass", "", "system-node-critical")}


def identity(manifest: Manifest) -> Reference:
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", ""), metadata["name"]


def pods(manifest: Manifest) -> Iterator[Manifest]:
    if manifest["kind"] in ("Deployment", "DaemonSet", "StatefulSet"):
        yield manifest["spec"]["template"]["spec"]


def namespaces(manifest: Manifest) -> Iterator[Reference]:
    if namespace := manifest["metadata"].get("namespace"):
        yield "Namespace", "", namespace


def roles(manifest: Manifest) -> Iterator[Reference]:
    if role := manifest.get("roleRef"):
        yield role["kind"], manifest["metadata"]["namespace"] if role["kind"] == "Role" else "", role["name"]


def subjects(manifest: Manifest) -> Iterator[Reference]:
    for subject in manifest.get("subjects", []):
        if subject["kind"] == "ServiceAccount":
            yield "ServiceAccount", subject["namespace"], subject["name"]


def accounts(manifest: Manifest) -> Iterator[Reference]:
    for pod in pods(manifest):
        yield "ServiceAccount", manifest["metadata"]["namespace"], pod["serviceAccountName"]


def priorities(manifest: Manifest) -> Iterator[Reference]:
    for pod in pods(manifest):
        yield "PriorityClass", "", pod["priorityClassName"]


def volumes(manifest: Manifest) -> Iterator[Reference]:
    for pod in pods(manifest):
        for volume in pod.get("volumes", []):
            for source, kind, key in (("secret", "Secret", "secretName"), ("configMap", "ConfigMap", "name")):
                if source in volume and not volume[source].get("optional"):
                    yield kind, manifest["metadata"]["namespace"], volume[source][key]


def webhooks(manifest: Manifest) -> Iterator[Reference]:
    for webhook in manifest.get("webhooks", []):
        service = webhook["clientConfig"]["service"]
        yield "Service", service["namespace"], service["name"]


def scaled(manifest: Manifest) -> Iterator[Reference]:
    if manifest["kind"] == "HorizontalPodAutoscaler":
        target = manifest["spec"]["scaleTargetRef"]
        yield target["kind"], manifest["metadata"]["namespace"], target["name"]


def classes(manifest: Manifest) -> Iterator[Reference]:
    for resource in manifest.get("spec", {}).get("hard", {}):
        name, found, _ = resource.partition(".storageclass.storage.k8s.io/")
        if found:
            yield "StorageClass", "", name


def claims(manifest: Manifest) -> Iterator[Reference]:
    if manifest["kind"] in ("PersistentVolumeClaim", "PersistentVolume"):
        yield "StorageClass", "", manifest["spec"]["storageClassName"]


REFERENCES: tuple[Callable[[Manifest], Iterator[Reference]], ...] = (
    namespaces,
    roles,
    subjects,
    accounts,
    priorities,
    volumes,
    webhooks,
    scaled,
    classes,
    claims,
)
ENVIRONMENTS = {
    environment: list(yaml.safe_load_all(path_of(environment).read_text(encoding="utf-8")))
    for environment in environments()
    if path_of(environment).exists()
}
every = pytest.mark.parametrize("manifests", ENVIRONMENTS.values(), ids=ENVIRONMENTS)


@every
@pytest.mark.parametrize("references", REFERENCES, ids=lambda function: function.__name__)
def test_what_is_named_is_declared(manifests: list[Manifest], references: Callable[[Manifest], Any]) -> None:
    there = {identity(manifest) for manifest in manifests} | MADE_AT_RUN_TIME | OF_KUBERNETES
    named = [reference for manifest in manifests for reference in references(manifest)]

    assert named
    assert set(named) - there == set()


@every
def test_every_selector_finds_pods(manifests: list[Manifest]) -> None:
    labels = [
        (manifest["metadata"]["namespace"], manifest["spec"]["template"]["metadata"]["labels"])
        for manifest in manifests
        if manifest["kind"] in WITH_PODS
    ]
    operated = {identity(manifest)[1:] for manifest in manifests if manifest["kind"] in OPERATED}
    for manifest in manifests:
        kind, namespace, name = identity(manifest)
        if kind in ("NetworkPolicy", "PodDisruptionBudget") and (namespace, name) in operated:
            continue
        selected: dict[str, str] = {}
        if kind == "Service":
            selected = manifest["spec"]["selector"]
        elif kind in ("PodDisruptionBudget", "Deployment", "DaemonSet"):
            selected = manifest["spec"]["selector"]["matchLabels"]
        elif kind == "NetworkPolicy":
            selected = manifest["spec"]["podSelector"].get("matchLabels", {})
        if selected:
            found = [place for place, its in labels if place == namespace and selected.items() <= its.items()]
            assert len(found) == 1, f"{kind} {namespace}/{name} selects the pods of {len(found)} workloads"


@every
def test_every_port_that_is_named_is_a_containers(manifests: list[Manifest]) -> None:
    for manifest in manifests:
        for pod in pods(manifest):
            for container in pod["containers"]:
                ports = {port["name"] for port in container.get("ports", [])}
                probes = [container[each] for each in container if each.endswith("Probe")]
                assert {probe["httpGet"]["port"] for probe in probes} <= ports
                for service in manifests:
                    if identity(service) == ("Service", *identity(manifest)[1:]):
                        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
