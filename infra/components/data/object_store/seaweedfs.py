"""SeaweedFS on this platform: copies in two zones, gateways and filers on a shared database, a key for each team."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from infra.components.data.object_store.access import SEAWEED, SEAWEED_PORT
from infra.components.data.object_store.reads import TEAMS
from infra.core import placement
from infra.node_labels import ZONE

if TYPE_CHECKING:
    from infra.core.parts import Image
    from infra.settings.models.data.object_store import SeaweedStore

API = "seaweed.seaweedfs.com/v1"
IDENTITIES_SECRET, IDENTITIES_KEY = "seaweedfs-identities", "identities.json"
PLATFORM = "platform"

TWO_ZONES = "100"
"""SeaweedFS' word for one further copy, in another data centre, which is what it calls a zone.

Source: https://github.com/seaweedfs/seaweedfs/wiki/Replication
"""

Spec = dict[str, Any]


def spec(store: SeaweedStore, *, zones: Sequence[str], storage_class: str, image: Image) -> Spec:
    """Return the `Seaweed`.

    Args:
        store: sizes and numbers.
        zones: the cluster's zones; data servers run in each.
        storage_class: class of every disk.
        image: what all its pods run.

    Source: https://github.com/seaweedfs/seaweedfs-operator, `api/v1/seaweed_types.go` and `config/samples` (1.0.36).
    """
    disk = {"storageClassName": storage_class, "requests": {"storage": str(store.volume.size)}}
    return {
        "image": image.reference,
        "volumeServerDiskCount": 1,
        "enablePVReclaim": False,
        "master": {
            "replicas": 3,
            "defaultReplication": TWO_ZONES,
            "concurrentStart": True,
            "affinity": _apart("master"),
            "persistence": {
                "enabled": True,
                "storageClassName": storage_class,
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
        "volumeTopology": {
            zone: {
                "replicas": store.servers_per_zone,
                "dataCenter": zone,
                "rack": zone,
                "nodeSelector": {ZONE: zone},
                **disk,
            }
            for zone in zones
        },
        "filer": {
            "replicas": store.gateways,
            "affinity": _apart("filer"),
            "configSecret": {"name": store.filer.secret, "key": store.filer.key},
        },
        "s3": {
            "replicas": store.gateways,
            "port": SEAWEED_PORT,
            "affinity": _apart("s3"),
            "configSecret": {"name": IDENTITIES_SECRET, "key": IDENTITIES_KEY},
        },
    }


def identities(store: SeaweedStore, keys: Mapping[str, str], platform_key: str) -> str:
    """Return who may do what, as JSON: the platform everything, each team no more than its prefixes.

    Args:
        store: the buckets.
        keys: each team's secret access key by its name, which is its access key's id too.
        platform_key: the platform's secret access key.
    """
    return json.dumps(
        {
            "identities": [
                _identity(PLATFORM, platform_key, ["Admin", "Read", "Write", "List", "Tagging"]),
                *(_identity(team, key, _actions(store, team)) for team, key in sorted(keys.items())),
            ]
        },
        sort_keys=True,
    )


def _actions(store: SeaweedStore, team: str) -> list[str]:
    """Return what a team may do: words with bucket and prefix.

    Source: https://github.com/seaweedfs/seaweedfs/wiki/Amazon-S3-API, Authentication.
    """
    buckets = store.buckets
    prefixes = (f"{buckets.pipelines.name}/{TEAMS}/{team}/*", f"{buckets.checkpoints.name}/{team}/*")
    return [f"{action}:{prefix}" for action in ("Read", "Write", "List", "Tagging") for prefix in prefixes]


def _identity(name: str, key: str, actions: list[str]) -> dict[str, Any]:
    return {"name": name, "credentials": [{"accessKey": name, "secretKey": key}], "actions": actions}


def _apart(component: str) -> Spec:
    """Keep replicas on different nodes, and if possible in different zones."""
    labels = {"app.kubernetes.io/instance": SEAWEED, "app.kubernetes.io/component": component}
    return {"podAntiAffinity": placement.apart(labels)}
