"""A platform on which the real Kueue holds jobs back, and what tests ask of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from infra.components.cluster.queues import LEASE, NAME, NAMESPACE
from infra.core import names
from infra.paths import VALUES
from infra.settings import load
from ops.stand_ins import stand_in
from sandbox import users
from sandbox.nodes import from_settings
from tests.e2e.leaders import Replicas
from tests.e2e.platform import Platform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.settings import Settings
    from sandbox.api import Json
    from sandbox.cluster import Sandbox

PROGRAM = Path(__file__).parent / "programs" / "queues"
ENVIRONMENT = "queues"
POOL = "gpu-a100"
GPU = "nvidia.com/gpu"
BLOCK, RACK = "flotilla.dev/block", "flotilla.dev/rack"
"""Labels by which the pool's machines say where they stand: racks of two, blocks of two racks."""

NODES = 8
GPUS_EACH = 8
SMALL = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}
COMPLETES = "sandbox.flotilla.dev/completes-after"

GUARANTEED = {"vision": 16, "language": 48}
"""How many of the pool's 64 GPUs each team is guaranteed; each may borrow as many again."""


def write_values(folder: Path) -> Settings:
    """Write the tests' environment, which is `local` with more GPU nodes, other quotas and queues; return it."""
    folder.mkdir(parents=True)
    shutil.copy(VALUES / "base.yaml", folder)
    values: Json = yaml.safe_load((VALUES / "local.yaml").read_text())
    pool = next(each for each in values["cluster"]["nodePools"] if each["name"] == POOL)
    pool |= {"nodes": {"min": NODES, "max": NODES}, "zones": values["cluster"]["zones"][:1]}
    for team in values["teams"]:
        gpus = GUARANTEED[team["name"]]
        team["quota"] |= {"cpu": 12 * gpus, "memory": f"{128 * gpus}Gi", "gpus": gpus}
        team["limits"]["max"] = {"cpu": 96, "memory": "1152Gi"}
    values["scheduling"] = {
        "queues": {
            "kind": "kueue",
            "installed": "install",
            "borrowPercent": 100,
            "reclaim": "any",
            "resources": SMALL,
            "topologies": [{"name": "fabric", "pools": [POOL], "levels": ["block", "rack"]}],
        }
    }
    (folder / f"{ENVIRONMENT}.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    return load(ENVIRONMENT, folder)


def queued_job(
    name: str, team: str, *, pods: int, master: bool = True, annotations: Mapping[str, str] | None = None
) -> Json:
    """Return a PyTorchJob of so many pods, each of which fills a node; it names no queue.

    Args:
        name: its name.
        team: the team, which is also the namespace.
        pods: how many pods.
        master: whether one of them is a master; else all are workers, which is one pod set to Kueue.
        annotations: annotations of each pod.
    """
    amounts = {"cpu": "8", "memory": "64Gi", GPU: str(GPUS_EACH)}
    template = {
        "metadata": {"annotations": dict(annotations or {})},
        "spec": {
            "priorityClassName": names.TRAINING_PRIORITY,
            "tolerations": [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}],
            "containers": [
                {
                    "name": "pytorch",
                    "image": "docker.io/kubeflow/pytorch-dist-mnist:v1-855e096",
                    "resources": {"requests": amounts, "limits": {"memory": "64Gi", GPU: str(GPUS_EACH)}},
                }
            ],
        },
    }
    one: Json = {"restartPolicy": "OnFailure", "template": template}
    counts = {"Master": int(master), "Worker": pods - int(master)}
    replicas: dict[str, Any] = {kind: {**one, "replicas": count} for kind, count in counts.items() if count}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": team},
        "spec": {"pytorchReplicaSpecs": replicas},
    }


class Queues(Platform):
    """The environment of the tests, with Kueue's two replicas as processes.

    Args:
        sandbox: a running sandbox with the nodes of the environment.
        folder: the folder in whose `values` the environment stands.
    """

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        super().__init__(sandbox, folder)
        self.variables["QUEUES_FOLDER"] = str(folder)
        self.values = folder / "values"
        stand_in(sandbox, load(ENVIRONMENT, self.values))
        self.run_program(PROGRAM)
        self.kueue = Replicas(platform=self, namespace=NAMESPACE, name=NAME, lease=LEASE, container="manager")

    def situation(self) -> str:
        """Return what helps to understand a failure: also queues and workloads, and what Kueue last said."""
        listed = self.kubectl("get", "clusterqueues,localqueues,workloads,pytorchjobs", "-A", "-o", "wide").stdout
        return "\n".join([super().situation(), listed, *self.kueue.said()])

    def live(self, job: Json) -> Json:
        """Return the job as it is."""
        metadata = job["metadata"]
        return self.get(f"/apis/kubeflow.org/v1/namespaces/{metadata['namespace']}/pytorchjobs/{metadata['name']}")

    def is_suspended(self, job: Json) -> bool:
        """Return whether the job is held back and has no pods."""
        held: bool = self.live(job)["spec"].get("runPolicy", {}).get("suspend", False)
        return held and not self.pods_of(job)

    def runs(self, job: Json) -> bool:
        """Return whether every pod of the job runs."""
        return self.phases(job) == ["Running"] * size(job)

    def hosts(self, job: Json) -> list[str]:
        """Return the nodes that a job's pods are on, sorted."""
        return sorted(pod["spec"].get("nodeName", "") for pod in self.pods_of(job).values())

    def places(self, job: Json, label: str) -> set[str]:
        """Return the values of a label on the nodes that a job's pods are on."""
        nodes = {node["metadata"]["name"]: node for node in self.get("/api/v1/nodes")["items"]}
        return {nodes[host]["metadata"]["labels"][label] for host in self.hosts(job)}

    def workload(self, job: Json) -> Json:
        """Return what Kueue makes of a job; empty when it has not yet."""
        metadata = job["metadata"]
        listed = self.get(f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{metadata['namespace']}/workloads")["items"]
        return next((each for each in listed if _owner(each) == metadata["name"]), {})

    def waits_because(self, job: Json) -> str:
        """Return why a job waits for quota; empty when it does not."""
        found = _condition(self.workload(job), "QuotaReserved")
        return found["message"] if found and found["status"] == "False" else ""

    def is_admitted(self, job: Json) -> bool:
        """Return whether Kueue has let a job start."""
        found = _condition(self.workload(job), "Admitted")
        return found is not None and found["status"] == "True"

    def finish(self, job: Json) -> None:
        """Let every pod of a job end with success."""
        for pod in self.pods_of(job):
            done = self.kubectl("annotate", "pod", pod, "-n", job["metadata"]["namespace"], f"{COMPLETES}=1s")
            assert done.returncode == 0, done.stderr
        self.eventually(lambda: "Succeeded" in self.conditions(job), f"the success of {job['metadata']['name']}")

    def conditions(self, job: Json) -> set[str]:
        """Return the conditions that hold of a job."""
        found: list[Json] = self.live(job).get("status", {}).get("conditions", [])
        return {each["type"] for each in found if each["status"] == "True"}

    def gpus_in_use(self, team: str) -> int:
        """Return how many GPUs a team's pods hold, those that are ending included."""
        pods = self.get(f"/api/v1/namespaces/{team}/pods")["items"]
        return sum(
            int(container["resources"].get("limits", {}).get(GPU, "0"))
            for pod in pods
            if pod["status"]["phase"] in ("Pending", "Running")
            for container in pod["spec"]["containers"]
        )

    def remove_jobs(self) -> None:
        """Remove the jobs submitted, and wait until neither pods nor workloads are left of them."""
        super().remove_jobs()
        for team in GUARANTEED:
            self.eventually(lambda team=team: not self._left(team), f"the end of what {team} had")

    def _left(self, team: str) -> list[Json]:
        workloads = self.find(f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{team}/workloads") or {"items": []}
        pods: list[Json] = self.get(f"/api/v1/namespaces/{team}/pods")["items"]
        return [*workloads["items"], *pods]


def size(job: Json) -> int:
    """Return how many pods a job has."""
    return sum(each["replicas"] for each in job["spec"]["pytorchReplicaSpecs"].values())


def start_sandbox(own: Sandbox, settings: Settings) -> None:
    """Start the sandbox of the tests: the environment's nodes and its people."""
    own.up(from_settings(settings), users=users.from_settings(settings))


def _owner(workload: Json) -> str:
    owners: list[Json] = workload["metadata"].get("ownerReferences", [])
    return owners[0]["name"] if owners else ""


def _condition(workload: Json, kind: str) -> Json | None:
    conditions: list[Json] = workload.get("status", {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == kind), None)
