"""The agent: watches the pods that run as processes and keeps one worker for each."""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
from collections.abc import Callable
from functools import partial
from ipaddress import IPv4Network, ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from infra.errors import FlotillaError
from sandbox.agent.addresses import AddressPool
from sandbox.agent.api import Api, ApiError
from sandbox.agent.cluster_state import ClusterState, Key
from sandbox.agent.description import Description, Report
from sandbox.agent.egress import Egress
from sandbox.agent.images import PROCESS_IMAGES, is_process_pod
from sandbox.agent.informer import Informer
from sandbox.agent.kubelet_api import KubeletApi
from sandbox.agent.namespace import PodNamespace
from sandbox.agent.outside import OutsideView
from sandbox.agent.pod import PodWorker, Surroundings
from sandbox.agent.pod_folder import PodFolder, sweep
from sandbox.agent.provisioner import Provisioner
from sandbox.agent.simulated import says_simulated, simulated_status, why_simulated

Json = dict[str, Any]

_log = logging.getLogger(__name__)

_CLUSTER = "10.0.0.0/8"
"""The range all addresses of a sandbox come from, whoever hands them out."""

_PODS = "/api/v1/pods"
_END_SECONDS = 2.0
_SYNC_SECONDS = 60.0
_TRIAL_ADDRESS = "10.200.0.2"


class Agent:
    """Runs a sandbox's process pods until it is told to stop."""

    def __init__(self, description: Description) -> None:
        self._description = description
        self._api = Api(description.kubeconfig)
        self._loop = asyncio.get_running_loop()
        self._addresses = AddressPool(description.process_pod_cidr)
        self._cluster = ClusterState(
            self._api, on_routes=self._on_routes, on_object=self._on_object, on_lost_node=self._on_lost_node
        )
        self._networks = tuple(sorted({_CLUSTER, *_outside(_CLUSTER, description.service_cidr)}))
        self._outside = OutsideView(description.outside_file)
        server = urlsplit(description.server)
        self._egress = Egress(
            routes=lambda: self._cluster.routes,
            pod=self._namespace_of,
            is_node=lambda host: host in self._cluster.node_addresses,
            outside=lambda host, port: self._outside.hosts.targets.get((host, port)),
            is_inside=partial(_is_in, self._networks),
            api=(description.api_service_address, (server.hostname or "127.0.0.1", server.port or 443)),
            kubelet_socket=description.runtime_folder / "kubelet.sock",
        )
        self._around = Surroundings(
            description=description,
            api=self._api,
            cluster=self._cluster,
            addresses=self._addresses,
            egress=self._egress,
            outside=self._outside,
            networks=self._networks,
        )
        self._workers: dict[str, PodWorker] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._report = Report(processes=False)

    async def run(self) -> None:
        """Work until SIGTERM or SIGINT, then end every process."""
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, stop.set)
        self._report = await self._try_namespaces()
        self._report.write(self._description.folder)
        _log.info("%s", self._report)
        await self._cluster.start()
        self._serve_logs()
        server = await self._egress.serve(self._description.egress_socket)
        pods = Informer(
            self._api, _PODS, self._post_pod, keep=is_process_pod, query={"fieldSelector": "spec.nodeName!="}
        )
        pods.start()
        Provisioner(self._api, self._description.folder).start()
        await asyncio.to_thread(pods.wait, _SYNC_SECONDS)
        await asyncio.to_thread(sweep, self._description.pods_folder, pods.knows)
        following = self._loop.create_task(self._outside.follow(self._on_routes))
        await stop.wait()
        following.cancel()
        server.close()
        await asyncio.gather(*(worker.end(_END_SECONDS) for worker in self._workers.values()))
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _try_namespaces(self) -> Report:
        try:
            trial = await PodNamespace.open(address=_TRIAL_ADDRESS, hostname="trial", networks=self._networks)
        except (FlotillaError, OSError) as error:
            return Report(processes=False, reason=str(error))
        await trial.close()
        tools = self._description.tools_folder
        images = [name for name, image in PROCESS_IMAGES.items() if image.program(tools)]
        return Report(processes=True, images=tuple(sorted(images)))

    def _serve_logs(self) -> None:
        KubeletApi(
            self._description.runtime_folder / "kubelet.sock",
            certificate=self._description.certificate,
            key=self._description.key,
            pods=self._description.pods_folder,
            is_running=self._is_running,
        ).start()

    def _is_running(self, namespace: str, pod: str, container: str) -> bool:
        return PodFolder.of(self._description.pods_folder, namespace, pod).pid(container).exists()

    def _namespace_of(self, address: str) -> PodNamespace | None:
        return next((worker.namespace for worker in self._workers.values() if worker.address == address), None)

    def _on_routes(self) -> None:
        for worker in self._workers.values():
            worker.upkeep()

    def _on_object(self, key: Key) -> None:
        for worker in self._workers.values():
            if worker.follows(key):
                worker.upkeep()

    def _on_lost_node(self, name: str) -> None:
        for worker in self._workers.values():
            if worker.node == name:
                worker.lose_machine()

    def _post_pod(self, before: Json | None, after: Json | None) -> None:
        self._loop.call_soon_threadsafe(self._on_pod, before, after)

    def _on_pod(self, before: Json | None, after: Json | None) -> None:
        uid = (after or before or {})["metadata"]["uid"]
        worker = self._workers.get(uid)
        if after is None:
            if worker:
                worker.abandon()
        elif worker:
            worker.update(after)
        elif reason := why_simulated(after, images=self._report.images, obstacle=self._report.reason):
            if _phase(after) == "Running" and not says_simulated(after):
                self._task(uid, self._say_simulated(after, reason))
        elif "deletionTimestamp" in after["metadata"]:
            self._task(uid, self._confirm_deletion(after))
        elif _phase(after) not in {"Succeeded", "Failed"}:
            self._adopt(uid, after)

    def _adopt(self, uid: str, pod: Json) -> None:
        try:
            worker = PodWorker(self._around, pod)
        except FlotillaError as error:
            _log.error("%s", error)
            return
        self._workers[uid] = worker
        self._task(uid, worker.run())

    def _task(self, uid: str, work: Any) -> None:
        task = self._tasks[uid] = self._loop.create_task(work)
        task.add_done_callback(partial(self._forget, uid))

    def _forget(self, uid: str, task: asyncio.Task[None]) -> None:
        self._workers.pop(uid, None)
        self._tasks.pop(uid, None)
        if not task.cancelled() and (error := task.exception()):
            _log.error("the worker of pod %s failed", uid, exc_info=error)

    async def _confirm_deletion(self, pod: Json) -> None:
        """Tell the API server that nothing of a pod is left, when no worker does."""
        metadata = pod["metadata"]
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": metadata["uid"]}}
        folder = PodFolder.of(self._description.pods_folder, metadata["namespace"], metadata["name"])
        await asyncio.to_thread(folder.remove, metadata["uid"])
        await self._request(self._api.delete, _path(pod), body)

    async def _say_simulated(self, pod: Json, reason: str) -> None:
        await self._request(self._api.patch, f"{_path(pod)}/status", {"status": simulated_status(reason)})

    async def _request(self, call: Callable[[str, Json], Json], path: str, body: Json) -> None:
        try:
            await asyncio.to_thread(call, path, body)
        except ApiError as error:
            if not error.missing:
                _log.warning("%s: %s", path, error)


def _path(pod: Json) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _phase(pod: Json) -> str:
    return pod.get("status", {}).get("phase", "Pending")


def _outside(network: str, other: str) -> list[str]:
    return [] if IPv4Network(other).subnet_of(IPv4Network(network)) else [other]


def _is_in(networks: tuple[str, ...], host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address in ip_network(network) for network in networks)


async def run(folder: Path) -> None:
    """Run the agent of the sandbox in a folder."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    await Agent(Description.read(folder)).run()
