"""Training that really runs, as a process in each pod: it counts steps, and saves a checkpoint when it has to end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from infra.core import names
from sandbox.agent.images import PYTHON
from sandbox.agent.provisioner import claim_folder
from tests.e2e.node_pools import GPU

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.api import Json
    from tests.e2e.node_pools import Pools

CLAIM = "checkpoints"
STORAGE_CLASS = "shared-for-checkpoints"
FINISH = "finish"
ENDED_BY_SIGNAL = 143

PROGRAM = """
import json, os, pathlib, signal, socket, sys, time
folder, name = pathlib.Path("/checkpoints"), socket.gethostname()
saved = folder / f"{name}.json"
state = json.loads(saved.read_text()) if saved.exists() else {"step": 0, "lives": 0}
state["lives"] += 1
first = state["step"]

def save(*_):
    time.sleep(float(os.environ["SAVING_SECONDS"]))
    fresh = folder / f".{name}"
    fresh.write_text(json.dumps({**state, "node": os.environ["NODE"], "saved": time.time()}))
    fresh.replace(saved)
    sys.exit(int(os.environ["ENDED_BY_SIGNAL"]))

signal.signal(signal.SIGTERM, save)
while not (folder / "finish").exists():
    state["step"] += 1
    (folder / f"{name}.progress").write_text(json.dumps({**state, "first": first, "node": os.environ["NODE"]}))
    time.sleep(0.2)
"""


class Checkpoints:
    """The folder that all pods of a job share, on a claim as teams' have.

    Args:
        pools: the platform the job runs on.
    """

    def __init__(self, pools: Pools) -> None:
        self.folder: Path = claim_folder(pools.sandbox.folder, pools.namespace, CLAIM)
        with pools.sandbox.api() as api:
            if api.find(f"/apis/storage.k8s.io/v1/storageclasses/{STORAGE_CLASS}") is None:
                api.create("/apis/storage.k8s.io/v1/storageclasses", _storage_class())
            if api.find(f"/api/v1/namespaces/{pools.namespace}/persistentvolumeclaims/{CLAIM}") is None:
                api.create(f"/api/v1/namespaces/{pools.namespace}/persistentvolumeclaims", _claim())

    def saved(self, pod: str) -> Json | None:
        """Return a pod's checkpoint."""
        return _read(self.folder / f"{pod}.json")

    def progress(self, pod: str) -> Json:
        """Return how far a pod has come, from where, in which life and on which node; nothing before it runs."""
        return _read(self.folder / f"{pod}.progress") or {}

    def finish(self) -> None:
        """Let every pod end with success."""
        if self.folder.is_dir():
            (self.folder / FINISH).touch()

    def clear(self) -> None:
        """Remove what a job left, for the next one."""
        for file in self.folder.iterdir() if self.folder.is_dir() else ():
            file.unlink()


def training(name: str, *, pool: str, workers: int, saving_seconds: float = 3) -> Json:
    """Return a PyTorchJob of processes, each on a machine of its own, that Karpenter may not disrupt for savings.

    Its pods ask for ten minutes to end: more than any spot machine has.
    """
    environment = {"SAVING_SECONDS": str(saving_seconds), "ENDED_BY_SIGNAL": str(ENDED_BY_SIGNAL)}
    container: Json = {
        "name": "pytorch",
        "image": f"{PYTHON}:3",
        "command": ["python3", "-u", "-c", PROGRAM],
        "env": [
            *({"name": key, "value": value} for key, value in environment.items()),
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ],
        "resources": {"requests": {"cpu": "32", "memory": "128Gi", GPU: "8"}, "limits": {GPU: "8"}},
        "volumeMounts": [{"name": "checkpoints", "mountPath": "/checkpoints"}],
    }
    template: Json = {
        "metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}},
        "spec": {
            "nodeSelector": {names.NODE_POOL: pool},
            "tolerations": [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}],
            "terminationGracePeriodSeconds": 600,
            "containers": [container],
            "volumes": [{"name": "checkpoints", "persistentVolumeClaim": {"claimName": CLAIM}}],
        },
    }
    one: Json = {"restartPolicy": "OnFailure", "template": template, "replicas": 1}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name},
        "spec": {"pytorchReplicaSpecs": {"Master": one, "Worker": {**one, "replicas": workers}}},
    }


def _storage_class() -> Json:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": STORAGE_CLASS},
        "provisioner": "shared.test",
    }


def _claim() -> Json:
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": STORAGE_CLASS,
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": CLAIM}, "spec": spec}


def _read(file: Path) -> Json | None:
    try:
        return json.loads(file.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
