"""One pod from the moment it has a node until it is gone: namespaces, volumes, containers, status, deletion."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from infra.errors import FlotillaError
from sandbox.agent.api import Api
from sandbox.agent.container_set import ContainerSet
from sandbox.agent.context import PodContext
from sandbox.agent.events import Recorder
from sandbox.agent.launching import hostname
from sandbox.agent.listeners import Listeners
from sandbox.agent.namespace import PodNamespace
from sandbox.agent.pod_folder import PodFolder
from sandbox.agent.pod_volumes import PodVolumes
from sandbox.agent.reporting import Reporter
from sandbox.agent.routing import hosts_file, resolver_file
from sandbox.agent.status import Facts
from sandbox.agent.tasks import cancelled
from sandbox.agent.volumes import VolumeError

if TYPE_CHECKING:
    from sandbox.agent.addresses import AddressPool
    from sandbox.agent.cluster_state import ClusterState, Key
    from sandbox.agent.description import Description
    from sandbox.agent.egress import Egress
    from sandbox.agent.outside import OutsideView

Json = dict[str, Any]

_RETRY_SECONDS = 2.0
_UPKEEP_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What all pods of the agent share."""

    description: Description
    api: Api
    cluster: ClusterState
    addresses: AddressPool
    egress: Egress
    outside: OutsideView
    networks: tuple[str, ...]


class PodWorker:
    """Runs one pod.

    Args:
        surroundings: what all pods share.
        pod: the pod as it is now; a status left by an earlier agent is taken up.
    """

    def __init__(self, surroundings: Surroundings, pod: Json) -> None:
        self._around = surroundings
        metadata = pod["metadata"]
        self.name = f"{metadata['namespace']}/{metadata['name']}"
        self.address = surroundings.addresses.take(pod.get("status", {}).get("podIP"))
        folder = PodFolder.of(surroundings.description.pods_folder, metadata["namespace"], metadata["name"])
        self._context = PodContext(
            pod=pod,
            address=self.address,
            folder=folder,
            tools=surroundings.description.tools_folder,
            cluster=surroundings.cluster,
            recorder=Recorder(surroundings.api, pod),
            changed=self._changed,
        )
        self._volumes = PodVolumes(pod, folder, surroundings.description.folder, surroundings.api, surroundings.cluster)
        self._containers = ContainerSet(self._context)
        self._listeners: Listeners | None = None
        self._upkeep_due = asyncio.Event()
        self._deleted = asyncio.Event()
        self._gone = asyncio.Event()
        self._sandboxed = False
        self._mounted = False
        self._grace_seconds = float("inf")
        self._stopping: asyncio.Task[None] | None = None
        self._started_at = _started_at(pod)
        self._reporter = Reporter(surroundings.api, pod, self._facts)
        self.update(pod)

    @property
    def namespace(self) -> PodNamespace | None:
        """The pod's namespaces while they exist."""
        return self._context.namespace if self._sandboxed else None

    @property
    def node(self) -> str:
        """Name of the pod's node."""
        return self._context.pod["spec"]["nodeName"]

    def update(self, pod: Json) -> None:
        """Take note of the pod's present state in the API server."""
        self._context.pod = self._reporter.merge(pod)
        if "deletionTimestamp" in pod["metadata"]:
            self._deleted.set()
            self._hurry(self._context.grace_seconds)
        self._upkeep_due.set()

    def abandon(self) -> None:
        """Take note that the pod is gone from the API server."""
        self._gone.set()
        self._deleted.set()
        self._hurry(0)

    def lose_machine(self) -> None:
        """End everything, as a machine does that is gone: at once, and with nobody left to say so."""
        self._reporter.silence()
        self._context.stopping = True
        self._stopping = asyncio.create_task(self._containers.stop(0))

    def follows(self, key: Key) -> bool:
        """Return whether a ConfigMap or Secret is a source of one of the pod's volumes."""
        kind, namespace, name = key
        return namespace == self._context.pod["metadata"]["namespace"] and (kind, name) in self._volumes.sources

    def upkeep(self) -> None:
        """Bring volumes, host names and listening ports in line soon."""
        self._upkeep_due.set()

    async def run(self) -> None:
        """Run the pod until it is gone."""
        reporting = asyncio.create_task(self._reporter.run())
        upkeep = asyncio.create_task(self._keep_up())
        try:
            await self._live()
            await self._tear_down()
            await self._reporter.flush()
            await self._deleted.wait()
            if self._reporter.silent:
                await self._gone.wait()
            await self._reporter.delete()
        finally:
            for task in (reporting, upkeep):
                await cancelled(task)
            await self._tear_down()
            self._around.addresses.give_back(self.address)
            if self._deleted.is_set():
                await asyncio.to_thread(self._context.folder.remove, self._context.pod["metadata"]["uid"])

    async def end(self, grace_seconds: float) -> None:
        """End the pod's processes, leaving the pod itself as it is."""
        self._context.stopping = True
        await self._containers.stop(grace_seconds)

    def _hurry(self, grace_seconds: float) -> None:
        """End processes that are ending already within a shorter time."""
        if self._context.stopping and grace_seconds < self._grace_seconds:
            self._stopping = asyncio.create_task(self._containers.stop(grace_seconds))
        self._grace_seconds = min(self._grace_seconds, grace_seconds)

    async def _live(self) -> None:
        work = asyncio.create_task(self._work())
        deleted = asyncio.create_task(self._deleted.wait())
        try:
            await asyncio.wait([work, deleted], return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
            else:
                self._context.stopping = True
                await self._containers.stop(self._grace_seconds)
        finally:
            for task in (work, deleted):
                await cancelled(task)

    async def _work(self) -> None:
        while True:
            await self._set_up()
            running = asyncio.create_task(self._containers.run())
            try:
                lost = self._context.namespace.lost
                await asyncio.wait([running, lost], return_when=asyncio.FIRST_COMPLETED)
                if running.done():
                    running.result()
                    return
            finally:
                await cancelled(running)
            self._containers.mark_lost()
            await self._tear_down()
            message = "Pod sandbox changed, it will be killed and re-created."
            await self._context.event("SandboxChanged", message)

    async def _set_up(self) -> None:
        await asyncio.to_thread(self._context.folder.prepare, self._context.pod["metadata"]["uid"])
        await self._until_done(self._open_namespace, "FailedCreatePodSandBox")
        await self._until_done(self._refresh, "FailedMount")
        self._mounted = True
        self._changed()

    async def _until_done(self, step: Callable[[], Awaitable[None]], reason: str) -> None:
        while True:
            try:
                await step()
            except (FlotillaError, VolumeError, OSError) as error:
                await self._context.event(reason, str(error), warning=True)
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                return

    async def _open_namespace(self) -> None:
        namespace = await PodNamespace.open(
            address=self.address, hostname=hostname(self._context.pod), networks=self._around.networks
        )
        self._context.namespace = namespace
        self._sandboxed = True
        self._listeners = Listeners(namespace, self._around.egress, self.name)

    async def _refresh(self) -> None:
        table, metadata = self._around.cluster.routes, self._context.pod["metadata"]
        own, outside = {self.address: hostname(self._context.pod)}, self._around.outside.hosts
        hosts = hosts_file(table, metadata["namespace"], own, outside.addresses)
        folder = self._context.folder
        await asyncio.to_thread(folder.write_etc, "hosts", hosts)
        resolver = resolver_file(metadata["namespace"], self._around.description.api_service_address)
        await asyncio.to_thread(folder.write_etc, "resolv.conf", resolver)
        if self._listeners:
            await self._listeners.update(table.ports | outside.ports)
        await asyncio.to_thread(self._volumes.refresh, self._context.pod)
        self._context.volumes = self._volumes.paths

    async def _keep_up(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_UPKEEP_SECONDS):
                    await self._upkeep_due.wait()
            self._upkeep_due.clear()
            if not self._mounted:
                continue
            try:
                await self._refresh()
            except (FlotillaError, VolumeError, OSError) as error:
                if not self._context.stopping:
                    await self._context.event("FailedMount", str(error), warning=True)
            for container in [*self._containers.init, *self._containers.main]:
                await asyncio.to_thread(self._context.folder.trim_log, container.name)

    async def _tear_down(self) -> None:
        self._mounted = False
        if self._listeners:
            self._listeners.close()
        if self._sandboxed:
            self._sandboxed = False
            await self._context.namespace.close()
        self._changed()

    def _changed(self) -> None:
        self._reporter.touch()

    def _facts(self) -> Facts:
        return Facts(
            pod=self._reporter.pod,
            address=self.address,
            host_address=self._around.cluster.host_address(self._context.pod["spec"]["nodeName"]),
            started_at=self._started_at,
            sandboxed=self._sandboxed,
            init=self._containers.init,
            containers=self._containers.main,
        )


def _started_at(pod: Json) -> datetime:
    text = pod.get("status", {}).get("startTime")
    return datetime.fromisoformat(text) if text else datetime.now(UTC)
