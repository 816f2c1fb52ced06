"""What every user of the object store reads, for each kind of store."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from infra.components.data.object_store.access import access, platform_identity, team_identity
from infra.components.data.object_store.reads import install_config, platform, team
from tests.unit.components.object_stores import CLIENT, MINIO, ROLE, SEAWEED, STORES, TEAM_CLIENT, store

every = pytest.mark.parametrize("kind", STORES)


@pytest.mark.parametrize(
    ("kind", "host", "port", "secure"),
    [
        ("s3", "s3.eu-west-1.amazonaws.com", "443", "true"),
        ("s3-keys", "s3.internal.example.com", "443", "true"),
        ("gcs", "storage.googleapis.com", "443", "true"),
        ("azure", "s3.example.com", "9000", "true"),
        ("s3-compatible", "minio.example.com", "9000", "true"),
        ("seaweedfs", SEAWEED, "8333", "false"),
        ("minio-operator", MINIO, "80", "false"),
    ],
)
def test_api_server_reads_where_the_store_is(kind: str, host: str, port: str, secure: str) -> None:
    read = platform(store(kind))["ml-pipeline-object-store"]

    assert read["OBJECTSTORECONFIG_HOST"] == host
    assert read["OBJECTSTORECONFIG_PORT"] == port
    assert read["OBJECTSTORECONFIG_SECURE"] == secure
    assert read["OBJECTSTORECONFIG_BUCKETNAME"] == "artifacts"
    assert "OBJECTSTORECONFIG_ACCESSKEY" not in read


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("s3", {"AWS_S3_ENDPOINT": "s3.eu-west-1.amazonaws.com", "AWS_REGION": "eu-west-1", "AWS_SSL": "true"}),
        (
            "s3-compatible",
            {"MINIO_HOST": "minio.example.com", "MINIO_NAMESPACE": "", "MINIO_PORT": "9000", "MINIO_SSL": "true"},
        ),
    ],
)
def test_ui_reads_one_set_for_s3_and_another_for_what_speaks_it(kind: str, expected: dict[str, str]) -> None:
    assert platform(store(kind))["ml-pipeline-ui-object-store"] == expected


@pytest.mark.parametrize(
    ("kind", "root"),
    [("s3", "s3://artifacts"), ("gcs", "gs://artifacts"), ("azure", "minio://artifacts")],
)
def test_pipelines_roots_name_the_bucket_and_the_team(kind: str, root: str) -> None:
    assert install_config(store(kind)) == {"bucketName": "artifacts", "defaultPipelineRoot": f"{root}/v2/artifacts"}
    assert team(store(kind), "vision")["kfp-launcher"]["defaultPipelineRoot"] == (
        f"{root}/private-artifacts/vision/v2/artifacts"
    )


@every
def test_launcher_never_falls_back_to_upstreams_own_endpoint(kind: str) -> None:
    settings = store(kind)
    (scheme,) = yaml.safe_load(team(settings, "vision")["kfp-launcher"]["providers"])

    assert install_config(settings)["defaultPipelineRoot"].startswith(f"{scheme}://")


@pytest.mark.parametrize(
    ("kind", "credentials"),
    [
        ("s3", {"fromEnv": True}),
        ("gcs", {"fromEnv": True}),
        (
            "s3-compatible",
            {
                "fromEnv": False,
                "secretRef": {
                    "secretName": "team-store",
                    "accessKeyKey": "accesskey",
                    "secretKeyKey": "secretkey",
                },
            },
        ),
    ],
)
def test_launcher_signs_as_the_team(kind: str, credentials: dict[str, Any]) -> None:
    (provider,) = yaml.safe_load(team(store(kind), "vision")["kfp-launcher"]["providers"]).values()

    assert provider["default"]["credentials"] == credentials


def test_argo_signs_as_whoever_runs_the_workflow() -> None:
    settings = store("s3-compatible")
    own = yaml.safe_load(platform(settings)["workflow-controller-configmap"]["artifactRepository"])["s3"]
    teams = yaml.safe_load(team(settings, "vision")["artifact-repositories"]["default-namespaced"])["s3"]

    assert (own["accessKeySecret"]["name"], teams["accessKeySecret"]["name"]) == ("store", "team-store")
    assert (own["endpoint"], own["insecure"], own["bucket"]) == ("minio.example.com:9000", False, "artifacts")
    assert own["keyFormat"].startswith("private-artifacts/{{workflow.namespace}}/")
    assert own["caSecret"] == {"name": "store-ca", "key": "ca.crt"}


def test_argo_uses_the_identity_of_pods_where_there_is_one() -> None:
    amazon = yaml.safe_load(platform(store("s3"))["workflow-controller-configmap"]["artifactRepository"])
    google = yaml.safe_load(platform(store("gcs"))["workflow-controller-configmap"]["artifactRepository"])

    assert amazon["s3"]["useSDKCreds"] is True
    assert google["gcs"]["bucket"] == "artifacts"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "s3",
            {
                "CHECKPOINT_URI": "s3://checkpoints/vision/",
                "AWS_REGION": "eu-west-1",
                "AWS_ENDPOINT_URL_S3": "https://s3.eu-west-1.amazonaws.com",
            },
        ),
        ("gcs", {"CHECKPOINT_URI": "gs://checkpoints/vision/"}),
        (
            "azure",
            {
                "CHECKPOINT_URI": "abfs://checkpoints@training.dfs.core.windows.net/vision/",
                "AZURE_STORAGE_ACCOUNT_NAME": "training",
            },
        ),
    ],
)
def test_training_jobs_read_where_their_checkpoints_go(kind: str, expected: dict[str, str]) -> None:
    assert team(store(kind), "vision")["checkpoints"] == expected


@pytest.mark.parametrize(("kind", "type_"), [("s3", "s3"), ("gcs", "gcs"), ("azure", "azure"), ("seaweedfs", "s3")])
def test_loki_reads_the_bucket_of_logs(kind: str, type_: str) -> None:
    read = yaml.safe_load(platform(store(kind))["logs-object-store"]["storage.yaml"])

    assert read["type"] == type_
    assert set(read["bucketNames"].values()) == {"logs"}


@pytest.mark.parametrize(
    ("kind", "key", "own", "teams"),
    [
        ("s3", "eks.amazonaws.com/role-arn", ROLE, f"{ROLE}-vision"),
        (
            "gcs",
            "iam.gke.io/gcp-service-account",
            "flotilla@project.iam.gserviceaccount.com",
            "team-vision@project.iam.gserviceaccount.com",
        ),
        ("azure", "azure.workload.identity/client-id", CLIENT, TEAM_CLIENT),
    ],
)
def test_accounts_are_bound_to_the_clouds_identities(kind: str, key: str, own: str, teams: str) -> None:
    settings = store(kind)

    assert platform_identity(settings).annotations == {key: own}
    assert team_identity(settings, "vision").annotations == {key: teams}


@pytest.mark.parametrize("kind", ["s3-keys", "s3-compatible", "seaweedfs", "minio-operator"])
def test_accounts_are_bound_to_nothing_where_keys_sign(kind: str) -> None:
    assert platform_identity(store(kind)).annotations == {}
    assert access(store(kind)).keys is not None
