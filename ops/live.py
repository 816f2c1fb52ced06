"""What runs in an environment, as a person reads it: availability, endpoints, quotas, and where to look next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra.core import names
from infra.node_labels import ZONE
from ops import workloads
from ops.console import table
from sandbox.agent_process import process_images
from sandbox.status import pod_kind

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.console import Console
    from rich.table import Table

    from infra.settings import Settings
    from ops.jobs import Job
    from sandbox.api import ApiClient
    from sandbox.cluster import Sandbox

Json = dict[str, Any]
GPU = "requests.nvidia.com/gpu"


def print_environment(console: Console, settings: Settings, sandbox: Sandbox, job: Job) -> None:
    """Print the running environment: workloads, teams, the example job, endpoints and commands."""
    with sandbox.api() as api:
        pods: list[Json] = api.get("/api/v1/pods")["items"]
        zones = {
            node["metadata"]["name"]: node["metadata"]["labels"].get(ZONE, "-")
            for node in api.get("/api/v1/nodes")["items"]
        }
        console.print(_nodes(zones, settings))
        console.print(_workloads(api, pods, zones, process_images(sandbox.layout.folder)))
        console.print(_teams(api, settings))
        console.print(_job(api, pods, zones, job))
    _pointers(console, settings, sandbox, job)


def _nodes(zones: dict[str, str], settings: Settings) -> str:
    gpus = sum(pool.machine.gpus * pool.nodes.min for pool in settings.cluster.node_pools)
    return f"\n{settings.environment}: {len(zones)} nodes in {len(set(zones.values()))} zones, {gpus} GPUs"


def _workloads(api: ApiClient, pods: list[Json], zones: dict[str, str], images: Collection[str]) -> Table:
    rows = table("Workloads", "workload", "availability", "ready", "zones", "runs as")
    for each in workloads.running(api):
        own = [pod for pod in pods if _belongs(pod, each.manifest)]
        used = {zones[pod["spec"]["nodeName"]] for pod in own if pod["spec"].get("nodeName")}
        real = bool(own) and all(pod_kind(pod, images) == "real" for pod in own)
        rows.add_row(
            each.name,
            each.manifest["metadata"].get("annotations", {}).get(names.AVAILABILITY, "every GPU node"),
            f"{each.ready}/{each.wanted}",
            str(len(used)),
            "processes" if real else "simulated",
        )
    return rows


def _teams(api: ApiClient, settings: Settings) -> Table:
    rows = table("Teams: used of quota", "team", "owner", "GPUs", "CPUs", "memory", "pods")
    for team in settings.teams:
        quota = api.get(f"/api/v1/namespaces/{team.name}/resourcequotas/quota")["status"]
        hard, used = quota.get("hard", {}), quota.get("used", {})
        cells = [
            f"{used.get(key, '0')} of {hard.get(key, '-')}" for key in (GPU, "requests.cpu", "requests.memory", "pods")
        ]
        rows.add_row(team.name, team.owner, *cells)
    return rows


def _job(api: ApiClient, pods: list[Json], zones: dict[str, str], job: Job) -> Table:
    conditions = api.get(job.url).get("status", {}).get("conditions", [])
    state = next((each["type"] for each in reversed(conditions) if each["status"] == "True"), "unknown")
    rows = table(f"{job.kind} {job.namespace}/{job.name}: {state}", "pod", "phase", "node", "zone")
    for pod in pods:
        if pod["metadata"].get("labels", {}).get("training.kubeflow.org/job-name") == job.name:
            node = pod["spec"].get("nodeName", "-")
            rows.add_row(pod["metadata"]["name"], pod["status"]["phase"], node, zones.get(node, "-"))
    return rows


def _pointers(console: Console, settings: Settings, sandbox: Sandbox, job: Job) -> None:
    owner = next(team.owner for team in settings.teams if team.name == job.namespace)
    status = sandbox.status()
    lines = (
        ("API server", status.server or "-"),
        ("ingress", f"http://{settings.mesh.domain} (simulated: it serves nothing here)"),
        (
            "simulated",
            f"{status.simulated_pods} pods only say that they run; {status.real_pods} are real processes",
        ),
        ("use the tools", 'eval "$(.venv/bin/flotilla env)"'),
        (
            "look around",
            f"kubectl get pods -A    pulumi stack -s {settings.environment}    flotilla sandbox status",
        ),
        (
            "as the team",
            f"kubectl --context {sandbox.context}/{owner} -n {job.namespace} get {job.kind.lower()}s",
        ),
        ("see changes", f"pulumi preview -s {settings.environment} --policy-pack policies --diff --refresh"),
        ("stop", "make down"),
    )
    width = max(len(name) for name, _ in lines)
    console.print()
    for name, text in lines:
        console.print(f"  {name:<{width}}  {text}", markup=False)


def _belongs(pod: Json, workload: Json) -> bool:
    wanted: dict[str, str] = workload["spec"]["selector"]["matchLabels"]
    labels = pod["metadata"].get("labels", {})
    same = pod["metadata"]["namespace"] == workload["metadata"]["namespace"]
    return same and all(labels.get(key) == value for key, value in wanted.items())
