"""Replicas of which one leads, as processes of the sandbox: who leads, and what happens when it is killed."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.api import Json
    from tests.e2e.platform import Platform


@dataclass(frozen=True, kw_only=True)
class Replicas:
    """A Deployment's pods that agree on a leader by a Lease.

    Args:
        platform: where they run.
        namespace: their namespace, and the Lease's.
        name: value of their label `app.kubernetes.io/name`.
        lease: the Lease's name.
        container: the container that leads.
    """

    platform: Platform
    namespace: str
    name: str
    lease: str
    container: str

    def pods(self) -> dict[str, Json]:
        """Return them by name, without those that are being deleted."""
        path = f"/api/v1/namespaces/{self.namespace}/pods?labelSelector=app.kubernetes.io/name={self.name}"
        found: list[Json] = self.platform.get(path)["items"]
        return {pod["metadata"]["name"]: pod for pod in found if "deletionTimestamp" not in pod["metadata"]}

    def leader(self) -> str | None:
        """Return the pod that holds the Lease, if one of the present ones does."""
        lease = self.platform.find(f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{self.lease}")
        holder: str = lease["spec"].get("holderIdentity", "") if lease else ""
        return next((pod for pod in self.pods() if holder.startswith(f"{pod}_")), None)

    def kill(self, pod: str) -> None:
        """Kill a replica's process, and once more when it comes back, as one that crashes for good.

        A first crash is followed by a start at once; that process might win the Lease against the others. After a
        second crash it is kept waiting for longer than they need.
        """
        first = self._process(pod)
        os.kill(first, signal.SIGKILL)
        self.platform.eventually(lambda: self._process(pod) not in (0, first), f"a restart of {pod}")
        os.kill(self._process(pod), signal.SIGKILL)

    def said(self, lines: int = 25) -> list[str]:
        """Return the last lines that each of them logged."""
        logs = sorted(self.platform.sandbox.layout.pods.glob(f"{self.namespace}_{self.name}*/*.log"))
        return [
            line
            for log in logs
            for line in (f"== {log.parent.name}", *log.read_text(errors="replace").splitlines()[-lines:])
        ]

    def folder(self, pod: str) -> Path:
        """Return where the sandbox keeps what belongs to a pod."""
        return self.platform.sandbox.layout.pods / f"{self.namespace}_{pod}"

    def log(self, pod: str) -> str:
        """Return what a replica's process has printed."""
        return (self.folder(pod) / f"{self.container}.log").read_text(errors="replace")

    def _process(self, pod: str) -> int:
        try:
            return int((self.folder(pod) / f"{self.container}.pid").read_text())
        except (FileNotFoundError, ValueError):
            return 0
