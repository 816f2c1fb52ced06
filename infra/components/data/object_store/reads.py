"""What the users of the object store read: pure functions from the settings to the contents of their ConfigMaps.

Sources, read at Kubeflow 26.03.1: https://github.com/kubeflow/pipelines, tag 2.16.1, `backend/src/apiserver/config`,
`backend/src/v2/config`, `frontend/server/configs.ts` and `manifests/kustomize/third-party/argo`;
https://argo-workflows.readthedocs.io/en/release-3.7/artifact-repository-ref/;
https://grafana.com/docs/loki/latest/configure/storage/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from infra.components.data.object_store.access import access
from infra.settings.models.data.object_store import AzureStore, GcsStore

if TYPE_CHECKING:
    from infra.components.data.object_store.access import Keys
    from infra.settings.models.data.object_store import ObjectStore

API_SERVER = "ml-pipeline-object-store"
UI = "ml-pipeline-ui-object-store"
WORKFLOW_CONTROLLER = "workflow-controller-configmap"
LOGS = "logs-object-store"

LAUNCHER = "kfp-launcher"
ARTIFACTS = "artifact-repositories"
CHECKPOINTS = "checkpoints"
DEFAULT_ARTIFACTS = "default-namespaced"
"""Key of the repository in `artifact-repositories`, which an annotation names too."""

TEAMS = "private-artifacts"
"""First part of the keys of all teams' artifacts."""

KEY_FORMAT = (
    f"{TEAMS}/{{{{workflow.namespace}}}}/{{{{workflow.name}}}}/{{{{workflow.creationTimestamp.Y}}}}/"
    "{{workflow.creationTimestamp.m}}/{{workflow.creationTimestamp.d}}/{{pod.name}}"
)
"""Where Argo puts a pod's artifacts; upstream's own."""


def install_config(store: ObjectStore) -> dict[str, str]:
    """Return the entries of `pipeline-install-config`."""
    bucket = store.buckets.pipelines.name
    return {"bucketName": bucket, "defaultPipelineRoot": f"{access(store).scheme}://{bucket}/v2/artifacts"}


def platform(store: ObjectStore) -> dict[str, dict[str, str]]:
    """Return the contents of every ConfigMap that the platform's own components read, by its name."""
    return {
        API_SERVER: _api_server(store),
        UI: _ui(store),
        WORKFLOW_CONTROLLER: {"artifactRepository": _yaml(_artifact_repository(store, access(store).keys))},
        LOGS: {"storage.yaml": _yaml(_loki(store))},
    }


def team(store: ObjectStore, name: str) -> dict[str, dict[str, str]]:
    """Return the contents of every ConfigMap in a team's namespace, by its name."""
    here = access(store)
    root = f"{here.scheme}://{store.buckets.pipelines.name}/{TEAMS}/{name}/v2/artifacts"
    return {
        LAUNCHER: {"defaultPipelineRoot": root, "providers": _yaml(_providers(store))},
        ARTIFACTS: {DEFAULT_ARTIFACTS: _yaml(_artifact_repository(store, here.team_keys))},
        CHECKPOINTS: _checkpoints(store, name),
    }


def _api_server(store: ObjectStore) -> dict[str, str]:
    """Return the environment of Pipelines' API server but for its key: its own settings with "." as "_"."""
    here = access(store)
    return {
        "OBJECTSTORECONFIG_HOST": here.host,
        "OBJECTSTORECONFIG_PORT": str(here.port),
        "OBJECTSTORECONFIG_REGION": here.region,
        "OBJECTSTORECONFIG_SECURE": _word(here.secure),
        "OBJECTSTORECONFIG_BUCKETNAME": store.buckets.pipelines.name,
    }


def _ui(store: ObjectStore) -> dict[str, str]:
    """Return the environment of Pipelines' UI but for its key: one set for S3 itself, another for all that speak S3."""
    here = access(store)
    if here.scheme == "s3":
        return {"AWS_S3_ENDPOINT": here.address, "AWS_REGION": here.region, "AWS_SSL": _word(here.secure)}
    return {
        "MINIO_HOST": here.host,
        "MINIO_NAMESPACE": "",
        "MINIO_PORT": str(here.port),
        "MINIO_SSL": _word(here.secure),
    }


def _artifact_repository(store: ObjectStore, keys: Keys | None) -> dict[str, Any]:
    """Return where Argo keeps artifacts; on Google by the pod's identity, else by S3's API."""
    here, bucket = access(store), store.buckets.pipelines.name
    if isinstance(store, GcsStore):
        return {"archiveLogs": True, "gcs": {"bucket": bucket, "keyFormat": KEY_FORMAT}}
    signed: dict[str, Any] = {"useSDKCreds": True}
    if keys:
        signed = {
            "accessKeySecret": {"name": keys.secret, "key": keys.access_key},
            "secretKeySecret": {"name": keys.secret, "key": keys.secret_key},
        }
    authority = {"caSecret": {"name": here.ca.name, "key": here.ca.key}} if here.ca and here.ca.kind == "secret" else {}
    return {
        "archiveLogs": True,
        "s3": {
            "endpoint": here.address,
            "bucket": bucket,
            "region": here.region,
            "insecure": not here.secure,
            "keyFormat": KEY_FORMAT,
            **signed,
            **authority,
        },
    }


def _providers(store: ObjectStore) -> dict[str, Any]:
    """Return the launcher's providers: without one it would use an endpoint of upstream's own."""
    here = access(store)
    if here.scheme == "gs":
        return {"gs": {"default": {"credentials": {"fromEnv": True}}}}
    credentials: dict[str, Any] = {"fromEnv": True}
    if keys := here.team_keys:
        reference = {"secretName": keys.secret, "accessKeyKey": keys.access_key, "secretKeyKey": keys.secret_key}
        credentials = {"fromEnv": False, "secretRef": reference}
    default = {
        "endpoint": here.address,
        "region": here.region,
        "disableSSL": not here.secure,
        "forcePathStyle": here.scheme != "s3",
        "credentials": credentials,
    }
    return {here.scheme: {"default": default}}


def _checkpoints(store: ObjectStore, name: str) -> dict[str, str]:
    """Return the environment of a team's training jobs: where their checkpoints go, and how the store is found."""
    bucket = store.buckets.checkpoints.name
    match store:
        case GcsStore():
            return {"CHECKPOINT_URI": f"gs://{bucket}/{name}/"}
        case AzureStore():
            uri = f"abfs://{bucket}@{store.account}.dfs.core.windows.net/{name}/"
            return {"CHECKPOINT_URI": uri, "AZURE_STORAGE_ACCOUNT_NAME": store.account}
        case _:
            here = access(store)
            return {
                "CHECKPOINT_URI": f"s3://{bucket}/{name}/",
                "AWS_REGION": here.region,
                "AWS_ENDPOINT_URL_S3": here.url,
            }


def _loki(store: ObjectStore) -> dict[str, Any]:
    """Return Loki's `loki.storage`, without its key."""
    bucket = store.buckets.logs.name
    names = {"bucketNames": {"chunks": bucket, "ruler": bucket, "admin": bucket}}
    match store:
        case GcsStore():
            return {"type": "gcs", **names}
        case AzureStore():
            return {"type": "azure", **names, "azure": {"accountName": store.account, "useFederatedToken": True}}
        case _:
            here = access(store)
            s3 = {
                "endpoint": here.url,
                "region": here.region,
                "insecure": not here.secure,
                "s3ForcePathStyle": here.scheme != "s3",
            }
            return {"type": "s3", **names, "s3": s3}


def _word(value: bool) -> str:
    return str(value).lower()


def _yaml(value: dict[str, Any]) -> str:
    return yaml.safe_dump(value, sort_keys=True)
