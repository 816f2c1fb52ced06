"""Namespaces of the platform: restricted pods, nothing connected that was not declared."""

from __future__ import annotations

import pytest

from infra.core.namespace import Namespace, PodSecurity
from tests.unit.core.recording import record

PREFIX = "pod-security.kubernetes.io"


def test_namespace_enforces_restricted_by_default() -> None:
    labels = record(lambda: Namespace("harbour", part_of="fleet")).one("Namespace")["metadata"]["labels"]

    assert {labels[f"{PREFIX}/{mode}"] for mode in ("enforce", "warn", "audit")} == {"restricted"}


@pytest.mark.parametrize("level", ["baseline", "privileged"])
def test_namespace_of_a_weaker_profile_still_warns_of_what_falls_short(level: PodSecurity) -> None:
    recording = record(lambda: Namespace("harbour", part_of="fleet", pod_security=level))
    labels = recording.one("Namespace")["metadata"]["labels"]

    assert labels[f"{PREFIX}/enforce"] == level
    assert labels[f"{PREFIX}/warn"] == labels[f"{PREFIX}/audit"] == "restricted"


def test_namespace_denies_all_connections_to_its_pods() -> None:
    policy = record(lambda: Namespace("harbour", part_of="fleet")).one("NetworkPolicy")

    assert policy["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    assert policy["metadata"]["namespace"] == "harbour"


def test_what_lies_in_the_namespace_waits_for_it() -> None:
    recording = record(lambda: Namespace("harbour", part_of="fleet"))

    assert recording.resource("Namespace").urn in recording.resource("NetworkPolicy").after
