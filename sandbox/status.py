"""What a sandbox looks like from outside: processes, nodes, and which pods are real."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from infra.errors import FlotillaError
from infra.node_labels import ZONE
from sandbox import agent_process
from sandbox.agent.description import Report
from sandbox.agent.images import repository
from sandbox.agent.provisioner import SIMULATED
from sandbox.control_plane import PORTS

if TYPE_CHECKING:
    from collections.abc import Collection

    from sandbox.api import ApiClient, Json
    from sandbox.layout import Layout
    from sandbox.processes import ProcessTable

_PROCESSES = (*(name for name in PORTS if name != "etcd-peer"), agent_process.NAME)


@dataclass(frozen=True, kw_only=True)
class ProcessStatus:
    """One process of the sandbox; without a pid it does not run."""

    name: str
    pid: int | None
    port: int | None
    uptime_seconds: float | None


@dataclass(frozen=True, kw_only=True)
class NodeStatus:
    """One node as the API server knows it."""

    name: str
    zone: str
    ready: bool
    capacity: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Status:
    """A sandbox at one moment.

    Args:
        name: the sandbox.
        folder: its state folder.
        kubeconfig: its kubeconfig.
        context: the administrator's context in it.
        running: whether every process runs.
        server: the API server's address, while it answers.
        processes: each process.
        nodes: each node.
        real_pods: pods that run as processes on this machine.
        simulated_pods: pods that only say they run.
        pending_pods: pods without a node.
        simulated_volumes: volumes that the sandbox made in place of the drivers of storage classes.
        pending_claims: claims without a volume; those of classes that wait for a pod among them.
        only_simulated_because: why no pod can be a process on this machine; None where pods can.

    """

    name: str
    folder: str
    kubeconfig: str
    context: str
    running: bool
    server: str | None
    processes: tuple[ProcessStatus, ...]
    nodes: tuple[NodeStatus, ...]
    real_pods: int
    simulated_pods: int
    pending_pods: int
    simulated_volumes: int
    pending_claims: int
    only_simulated_because: str | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def inspect(name: str, layout: Layout, table: ProcessTable, api: ApiClient | None, context: str) -> Status:
    """Look at a sandbox; one that does not run or does not answer has no nodes and pods to show."""
    processes = tuple(_process(table, each) for each in _PROCESSES)
    node_items: list[Json] = []
    pod_items: list[Json] = []
    volume_items: list[Json] = []
    claim_items: list[Json] = []
    server = None
    if api is not None:
        with api:
            try:
                node_items = api.get("/api/v1/nodes")["items"]
                pod_items = api.get("/api/v1/pods")["items"]
                volume_items = api.get(f"/api/v1/persistentvolumes?labelSelector={SIMULATED}")["items"]
                claim_items = api.get("/api/v1/persistentvolumeclaims")["items"]
                server = api.server
            except FlotillaError:
                server = None
    report = Report.read(layout.folder)
    images = agent_process.process_images(layout.folder)
    kinds = Counter(pod_kind(item, images) for item in pod_items)
    return Status(
        name=name,
        folder=str(layout.folder),
        kubeconfig=str(layout.kubeconfig),
        context=context,
        running=bool(server) and all(process.pid for process in processes),
        server=server,
        processes=processes,
        nodes=tuple(sorted((_node(item) for item in node_items), key=lambda node: (node.zone, node.name))),
        real_pods=kinds["real"],
        simulated_pods=kinds["simulated"],
        pending_pods=kinds["pending"],
        simulated_volumes=len(volume_items),
        pending_claims=sum(claim["status"].get("phase") == "Pending" for claim in claim_items),
        only_simulated_because=report.reason if report and not report.processes else None,
    )


def pod_kind(pod: Json, images: Collection[str]) -> str:
    """Return whether a pod is `pending` (has no node), `real` (processes) or `simulated`."""
    if not pod["spec"].get("nodeName"):
        return "pending"
    used = [repository(container["image"]) for container in pod["spec"]["containers"]]
    return "real" if all(image in images for image in used) else "simulated"


def _process(table: ProcessTable, name: str) -> ProcessStatus:
    record = table.running(name)
    if record is None:
        return ProcessStatus(name=name, pid=None, port=None, uptime_seconds=None)
    return ProcessStatus(name=name, pid=record.pid, port=record.port, uptime_seconds=round(record.uptime_seconds, 1))


def _node(item: Json) -> NodeStatus:
    conditions: list[dict[str, str]] = item["status"].get("conditions", [])
    return NodeStatus(
        name=item["metadata"]["name"],
        zone=item["metadata"].get("labels", {}).get(ZONE, ""),
        ready=any(each["type"] == "Ready" and each["status"] == "True" for each in conditions),
        capacity=item["status"].get("capacity", {}),
    )
