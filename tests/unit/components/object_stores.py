"""An object store of every kind, as values give it."""

from __future__ import annotations

from typing import Any

from infra.settings.models.data.object_store import AnyObjectStore
from tests.unit.core.parsing import parse

ROLE = "arn:aws:iam::111122223333:role/flotilla"
CLIENT, TEAM_CLIENT = "11111111-2222-3333-4444-555555555555", "11111111-2222-3333-4444-666666666666"
KEYS = {"kind": "keys"}
BUCKETS = {
    "pipelines": {"name": "artifacts"},
    "checkpoints": {"name": "checkpoints"},
    "logs": {"name": "logs", "expireDays": 90},
    "backups": {"name": "backups"},
}
STORES: dict[str, dict[str, Any]] = {
    "s3": {
        "kind": "s3",
        "region": "eu-west-1",
        "identity": {"kind": "irsa", "role": ROLE, "teamRole": f"{ROLE}-{{team}}"},
    },
    "s3-keys": {"kind": "s3", "region": "eu-west-1", "endpoint": "https://s3.internal.example.com", "identity": KEYS},
    "gcs": {
        "kind": "gcs",
        "identity": {
            "account": "flotilla@project.iam.gserviceaccount.com",
            "teamAccount": "team-{team}@project.iam.gserviceaccount.com",
        },
        "hmac": KEYS,
    },
    "azure": {
        "kind": "azure",
        "account": "training",
        "identity": {"clientId": CLIENT, "teamClientIds": {"vision": TEAM_CLIENT}},
        "pipelines": {"endpoint": "https://s3.example.com:9000", "identity": KEYS},
    },
    "s3-compatible": {
        "kind": "s3-compatible",
        "endpoint": "https://minio.example.com:9000",
        "ca": {"kind": "secret", "name": "store-ca"},
        "identity": {"kind": "keys", "secret": "store", "teamSecret": "team-store"},
    },
    "seaweedfs": {"kind": "seaweedfs", "volume": {"size": "100Gi"}},
    "minio-operator": {"kind": "minio-operator", "volume": {"size": "1Ti"}, "identity": KEYS},
}
SEAWEED = "seaweedfs-s3.object-store.svc.cluster.local"
MINIO = "minio.object-store.svc.cluster.local"


def store(kind: str, **more: Any) -> Any:
    """Return the settings of a store of this kind."""
    return parse(AnyObjectStore, **{"buckets": BUCKETS, **STORES[kind], **more})  # pyright: ignore[reportArgumentType] - a union
