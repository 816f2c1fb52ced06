"""Plays the drivers of storage classes: makes volumes for claims, grows them, and removes those that are released.

Binding is the control plane's own. What a driver would answer for is not there: a volume is a folder of the sandbox.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from infra.node_labels import HOST, ZONE
from sandbox.agent.api import Api, ApiError
from sandbox.agent.informer import Informer

Json = dict[str, Any]

STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
"""Annotation by which the control plane asks a class's driver for a volume."""

SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""Annotation with the node of the first pod, for classes that wait for it."""

PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
SIMULATED = "flotilla.dev/simulated-volume"
"""Label of the volumes made here."""

LOCAL_PATH = "rancher.io/local-path"

_CLAIMS = "/api/v1/persistentvolumeclaims"
_VOLUMES = "/api/v1/persistentvolumes"
_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
_NODES = "/api/v1/nodes"


def claim_folder(sandbox: Path, namespace: str, claim: str) -> Path:
    """Return the folder behind a claim."""
    return sandbox / "claims" / f"{namespace}_{claim}"


class Provisioner:
    """Answers for every driver that a StorageClass names. Its watches run in threads of their own.

    Args:
        api: the way to the API server.
        sandbox: the sandbox's folder, where volumes are folders.
    """

    def __init__(self, api: Api, sandbox: Path) -> None:
        self._api = api
        self._sandbox = sandbox

    def start(self) -> None:
        """Start watching claims and volumes."""
        Informer(self._api, _CLAIMS, self.on_claim, keep=_concerns_us).start()
        Informer(self._api, _VOLUMES, self.on_volume, query={"labelSelector": SIMULATED}).start()

    def on_claim(self, _before: Json | None, claim: Json | None) -> None:
        """Make the volume that a claim waits for, or grow it.

        Raises:
            ApiError: the API server refused; the watch tells of the claim again.
        """
        if claim is None or "deletionTimestamp" in claim["metadata"]:
            return
        if wants_volume(claim):
            self._provision(claim)
        elif wants_growth(claim):
            self._grow(claim)

    def on_volume(self, _before: Json | None, volume: Json | None) -> None:
        """Remove a volume that its claim has left behind, where its class says so."""
        if volume is None or volume.get("status", {}).get("phase") != "Released":
            return
        if (
            volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
            and "deletionTimestamp" not in volume["metadata"]
        ):
            claim = volume["spec"]["claimRef"]
            shutil.rmtree(claim_folder(self._sandbox, claim["namespace"], claim["name"]), ignore_errors=True)
            self._ignore_missing(volume["metadata"]["name"])

    def _ignore_missing(self, name: str) -> None:
        try:
            self._api.delete(f"{_VOLUMES}/{name}", {})
        except ApiError as error:
            if not error.missing:
                raise

    def _provision(self, claim: Json) -> None:
        try:
            storage_class = self._api.get(f"{_CLASSES}/{claim['spec']['storageClassName']}")
            node_name = claim["metadata"].get("annotations", {}).get(SELECTED_NODE)
            node = self._api.get(f"{_NODES}/{node_name}") if node_name else None
            folder = claim_folder(self._sandbox, claim["metadata"]["namespace"], claim["metadata"]["name"])
            self._api.create(_VOLUMES, volume_for(claim, storage_class, node, folder))
        except ApiError as error:
            if not error.missing:
                raise

    def _grow(self, claim: Json) -> None:
        wanted = {"storage": claim["spec"]["resources"]["requests"]["storage"]}
        metadata = claim["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/persistentvolumeclaims/{metadata['name']}/status"
        try:
            volume = self._api.get(f"{_VOLUMES}/{claim['spec']['volumeName']}")
            if SIMULATED in volume["metadata"].get("labels", {}):
                self._api.patch(f"{_VOLUMES}/{volume['metadata']['name']}", {"spec": {"capacity": wanted}})
                self._api.patch(path, {"status": {"capacity": wanted}})
        except ApiError as error:
            if not error.missing:
                raise


def wants_volume(claim: Json) -> bool:
    """Return whether the control plane has asked a driver for the claim's volume, and none is there yet."""
    asked = STORAGE_PROVISIONER in claim["metadata"].get("annotations", {})
    return asked and not claim["spec"].get("volumeName") and bool(claim["spec"].get("storageClassName"))


def wants_growth(claim: Json) -> bool:
    """Return whether a bound claim asks for another size than it has; the API server lets it only grow."""
    has = claim.get("status", {}).get("capacity", {}).get("storage")
    bound = claim.get("status", {}).get("phase") == "Bound"
    return bound and has is not None and has != claim["spec"]["resources"]["requests"]["storage"]


def volume_for(claim: Json, storage_class: Json, node: Json | None, folder: Path) -> Json:
    """Return the volume that a class's driver would make for a claim.

    Args:
        claim: what asks for it.
        storage_class: the claim's class.
        node: where the first pod will run, for classes that wait for it.
        folder: what is behind it.
    """
    metadata, spec = claim["metadata"], claim["spec"]
    provisioner = storage_class["provisioner"]
    volume: Json = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": f"pvc-{metadata['uid']}",
            "labels": {SIMULATED: "true"},
            "annotations": {PROVISIONED_BY: provisioner},
        },
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": metadata["uid"],
            },
            "hostPath": {"path": str(folder), "type": "DirectoryOrCreate"},
            "mountOptions": storage_class.get("mountOptions", []),
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
            "storageClassName": storage_class["metadata"]["name"],
            "volumeMode": spec.get("volumeMode", "Filesystem"),
        },
    }
    if node:
        key = HOST if provisioner == LOCAL_PATH else ZONE
        place = {"key": key, "operator": "In", "values": [node["metadata"]["labels"][key]]}
        volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [place]}]}}
    return volume


def _concerns_us(claim: Json) -> bool:
    return wants_volume(claim) or wants_growth(claim)
