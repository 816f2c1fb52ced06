"""What is declared of the object store: the Job that makes buckets, and the store itself where it runs here."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pulumi import Output

from infra.components.data.object_store.buckets import environment, plan
from infra.components.data.object_store.component import ObjectStore, ObjectStoreArgs
from infra.components.data.object_store.seaweedfs import identities
from infra.components.data.object_store.team import TeamObjects, TeamObjectsArgs
from infra.settings.models.data.object_store import SeaweedStore
from tests.unit.components.object_stores import ROLE, store
from tests.unit.core.recording import Recording, record


def declared(kind: str, **more: Any) -> Recording:
    args = ObjectStoreArgs(
        settings=store(kind, **more),
        namespace="kubeflow",
        key_namespaces={"data": "flotilla-data"},
        teams=["vision"],
        zones=["a", "b", "c"],
        storage_class="gp3",
    )
    return record(lambda: ObjectStore("object-store", args))


@pytest.mark.parametrize("kind", ["s3", "s3-keys", "s3-compatible", "seaweedfs", "minio-operator"])
def test_job_makes_the_buckets(kind: str) -> None:
    recording = declared(kind)
    (container,) = recording.one("Job", "buckets")["spec"]["template"]["spec"]["containers"]
    variables = {each["name"]: each["value"] for each in container["env"]}

    assert variables["AMAZON"] == ("yes" if kind.startswith("s3-keys") or kind == "s3" else "no")
    assert plan(store(kind)) == "artifacts keep\ncheckpoints keep\nlogs 90\nbackups keep\n"
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_job_signs_with_the_platforms_key_and_trusts_its_authority() -> None:
    variables = environment(store("s3-compatible"))

    assert variables["AWS_ENDPOINT_URL"] == "https://minio.example.com:9000"
    assert variables["AWS_CA_BUNDLE"] == "/run/flotilla/ca/ca.crt"
    assert variables["ACCESS_KEY_FILE"] == "/run/flotilla/keys/accesskey"


def test_job_acts_under_the_platforms_role() -> None:
    account = declared("s3").one("ServiceAccount", "buckets")

    assert account["metadata"]["annotations"] == {"eks.amazonaws.com/role-arn": ROLE}
    assert "AWS_ENDPOINT_URL" not in environment(store("s3"))


@pytest.mark.parametrize(
    ("kind", "more"),
    [("gcs", {}), ("azure", {}), ("s3", {"manageBuckets": False}), ("seaweedfs", {"manageBuckets": False})],
)
def test_no_job_makes_buckets_that_are_somebody_elses(kind: str, more: dict[str, Any]) -> None:
    assert "Job" not in declared(kind, **more).kinds()


@pytest.mark.parametrize("kind", ["s3", "gcs", "azure", "s3-compatible"])
def test_nothing_runs_here_of_a_store_outside(kind: str) -> None:
    kinds = declared(kind).kinds()

    assert not {"Seaweed", "Tenant", "Namespace"} & set(kinds)


def test_seaweedfs_keeps_a_copy_in_a_second_zone_and_has_no_single_pod() -> None:
    spec = declared("seaweedfs").one("Seaweed")["spec"]

    assert spec["master"]["defaultReplication"] == "100"
    assert {zone: group["dataCenter"] for zone, group in spec["volumeTopology"].items()} == {
        zone: zone for zone in ("a", "b", "c")
    }
    assert all(spec[part]["replicas"] >= 2 for part in ("master", "filer", "s3"))
    assert "leveldb" not in json.dumps(spec)
    assert spec["volumeTopology"]["a"]["storageClassName"] == "gp3"


def test_seaweedfs_waits_for_its_operator_and_identities() -> None:
    recording = declared("seaweedfs")
    (release,) = [each for each in recording.resources if each.type == "kubernetes:helm.sh/v3:Release"]
    awaited = recording.awaited("Seaweed")

    assert release.inputs["chart"] == "seaweedfs-operator"
    assert {release.urn, recording.resource("Secret", "seaweedfs-identities").urn} <= awaited
    assert recording.resource("Seaweed").urn in recording.awaited("Job", "buckets")


def test_operator_that_is_present_is_not_installed() -> None:
    recording = declared("seaweedfs", installed="present")

    assert not [each for each in recording.resources if each.type == "kubernetes:helm.sh/v3:Release"]
    assert recording.one("Seaweed")


def test_keys_of_seaweedfs_lie_where_they_are_needed() -> None:
    places = [
        each["metadata"]["namespace"]
        for each in declared("seaweedfs").all("Secret")
        if each["metadata"]["name"] == "mlpipeline-minio-artifact"
    ]

    assert sorted(places) == ["flotilla-data", "kubeflow"]


def test_teams_reach_no_more_than_their_prefixes() -> None:
    settings = store("seaweedfs")
    assert isinstance(settings, SeaweedStore)
    known = {each["name"]: each for each in json.loads(identities(settings, {"vision": "v"}, "p"))["identities"]}

    assert "Admin" in known["platform"]["actions"]
    assert known["vision"]["actions"] == [
        f"{action}:{prefix}"
        for action in ("Read", "Write", "List", "Tagging")
        for prefix in ("artifacts/private-artifacts/vision/*", "checkpoints/vision/*")
    ]


def test_minio_spreads_a_pool_over_nodes_and_zones() -> None:
    (pool,) = declared("minio-operator").one("Tenant")["spec"]["pools"]

    assert (pool["servers"], pool["volumesPerServer"]) == (4, 4)
    assert pool["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert pool["containerSecurityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_s3_port_of_our_own_store_is_open_to_pods_and_nothing_else_is() -> None:
    rules = declared("seaweedfs").one("NetworkPolicy", "object-store")["spec"]["ingress"]

    assert [[port["port"] for port in rule.get("ports", [])] for rule in rules] == [[], [8333]]


def test_team_gets_its_own_key_where_we_make_keys() -> None:
    def declare() -> None:
        key = Output.secret("sesame")
        TeamObjects(
            "vision-objects", TeamObjectsArgs(store=store("seaweedfs"), team="vision", namespace="vision", key=key)
        )

    recording = record(declare)
    annotations = recording.one("ConfigMap", "artifact-repositories")["metadata"]["annotations"]

    assert recording.one("Secret")["metadata"]["namespace"] == "vision"
    assert annotations == {"workflows.argoproj.io/default-artifact-repository": "default-namespaced"}
    assert [each["metadata"]["name"] for each in recording.all("ConfigMap")] == [
        "artifact-repositories",
        "checkpoints",
        "kfp-launcher",
    ]
