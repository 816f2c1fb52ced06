"""Objects and waits that end-to-end tests share."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

import psutil

from sandbox.processes import MARKER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sandbox.api import ApiClient, Json

PATIENCE_SECONDS = 60.0


def namespace(api: ApiClient, labels: dict[str, str] | None = None) -> str:
    """Create a namespace with a name of its own and wait until pods can be created in it."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    metadata: Json = {"name": name, "labels": labels or {}}
    api.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    eventually(lambda: api.find(f"/api/v1/namespaces/{name}/serviceaccounts/default") is not None)
    return name


def pod(name: str, image: str = "registry.k8s.io/pause:3.10", **spec: object) -> Json:
    """Return a pod with one container."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "image": image}], **spec},
    }


def deployment(name: str, replicas: int) -> Json:
    """Return a Deployment of simulated pods."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod(name)["spec"]},
        },
    }


def eventually(condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until a condition holds; fail the test if it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.1)


def processes_of(folder: Path) -> list[psutil.Process]:
    """Return every living process that belongs to the sandbox in a folder."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            mine = process.environ().get(MARKER) == str(folder)
            if mine and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found
