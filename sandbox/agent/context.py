"""What a pod's containers share while the agent runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox.agent.cluster_state import ClusterState
    from sandbox.agent.events import Recorder
    from sandbox.agent.namespace import PodNamespace
    from sandbox.agent.pod_folder import PodFolder
    from sandbox.agent.relay import Stream

Json = dict[str, Any]


@dataclass(kw_only=True)
class PodContext:
    """One pod's present declaration and everything its containers need.

    Args:
        pod: the pod, replaced whenever it changes.
        address: its address.
        folder: its files.
        tools: folder of the programs images stand for.
        cluster: what is known of the cluster.
        recorder: writes its events.
        changed: to be called when something changed that its status shows.
        stopping: set once no container may start any more.
        volumes: folder of each volume.
    """

    pod: Json
    address: str
    folder: PodFolder
    tools: Path
    cluster: ClusterState
    recorder: Recorder
    changed: Callable[[], None]
    stopping: bool = False
    volumes: dict[str, Path] = field(default_factory=dict[str, Path])
    _namespace: PodNamespace | None = None

    @property
    def namespace(self) -> PodNamespace:
        """The pod's namespaces, which must exist."""
        if self._namespace is None:
            raise RuntimeError("the pod has no namespaces yet")
        return self._namespace

    @namespace.setter
    def namespace(self, value: PodNamespace) -> None:
        self._namespace = value

    @property
    def grace_seconds(self) -> float:
        """How long a container has to end by itself."""
        deleted = self.pod["metadata"].get("deletionGracePeriodSeconds")
        declared = self.pod["spec"].get("terminationGracePeriodSeconds", 30)
        return float(declared if deleted is None else deleted)

    async def connect(self, port: int) -> Stream:
        """Open a connection to a port of the pod."""
        socket = await self.namespace.socket()
        try:
            await asyncio.get_running_loop().sock_connect(socket, (self.address, port))
        except BaseException:
            socket.close()
            raise
        return await asyncio.open_connection(sock=socket)

    async def event(self, reason: str, message: str, container: str | None = None, *, warning: bool = False) -> None:
        """Write an event about the pod."""
        await asyncio.to_thread(self.recorder.record, reason, message, container=container, warning=warning)
