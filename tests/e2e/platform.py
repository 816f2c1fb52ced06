"""The environment `local` for end-to-end tests: the checkout's program on a sandbox and a state of its own."""

from __future__ import annotations

import json
import os
import subprocess
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from infra.components.ml.training import LEASE, NAME
from infra.paths import POLICIES, ROOT
from infra.settings import load
from ops.env import environment
from ops.stand_ins import stand_in
from tests.e2e.objects import eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sandbox.api import Json
    from sandbox.cluster import Sandbox

STACK = "local"
PROGRAM = ROOT / "infra"
ENGINE_SECONDS = 240
OPERATOR = f"/apis/apps/v1/namespaces/kubeflow/deployments/{NAME}"
OPERATOR_PODS = f"/api/v1/namespaces/kubeflow/pods?labelSelector=app.kubernetes.io/name={NAME}"
OPERATOR_LEASE = f"/apis/coordination.k8s.io/v1/namespaces/kubeflow/leases/{LEASE}"

OWNER, MEMBER = "vera@example.com", "vito@example.com"
"""The administrator and an editor of the team `vision`."""

Done = subprocess.CompletedProcess[str]


def training_job(name: str, *, workers: int = 3, container: str = "pytorch", namespace: str = "vision") -> Json:
    """Return the example PyTorchJob under another name: a master and some workers, with one GPU each."""
    job: Json = yaml.safe_load((ROOT / "examples" / "training" / "pytorch.yaml").read_text())
    job["metadata"] |= {"name": name, "namespace": namespace}
    replicas = job["spec"]["pytorchReplicaSpecs"]
    replicas["Worker"] = deepcopy(replicas["Worker"]) | {"replicas": workers}
    replicas["Worker"]["template"]["spec"]["containers"][0]["name"] = container
    return job


def pod_names(job: Json) -> set[str]:
    """Return the names of the pods that a job asks for."""
    name, workers = job["metadata"]["name"], job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"]
    return {f"{name}-master-0", *(f"{name}-worker-{index}" for index in range(workers))}


@dataclass(frozen=True)
class Change:
    """One resource that a plan would change.

    Args:
        name: the resource's name in the program.
        operation: `create`, `update`, `delete` and the like.
        fields: the paths of the fields that differ.
    """

    name: str
    operation: str
    fields: tuple[str, ...] = ()


class Platform:
    """The environment `local`, declared by the checkout's own program.

    The engine works in a folder made for it, so that neither the checkout's stacks nor its state are touched: the
    checkout's project file, a stack file that names the sandbox, and the program as a link.

    Args:
        sandbox: a running sandbox that nothing else puts a platform on.
        folder: an empty folder.
    """

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox = sandbox
        self.variables = os.environ | environment(state=folder / "state")
        self.variables["KUBECONFIG"] = str(sandbox.kubeconfig)
        self._project = folder / "project"
        self._is_up = False
        self._submitted: list[Json] = []
        (self._project / "stacks").mkdir(parents=True)
        (self._project / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
        stack = {"config": {"flotilla:context": sandbox.context}}
        (self._project / "stacks" / f"Pulumi.{STACK}.yaml").write_text(yaml.safe_dump(stack))
        self.run_program(PROGRAM)
        stand_in(sandbox, load(STACK))
        self.succeeds("stack", "init", STACK)

    def run_program(self, program: Path) -> None:
        """Let the engine run this program from now on."""
        link = self._project / "infra"
        link.unlink(missing_ok=True)
        link.symlink_to(program)

    def pulumi(self, *arguments: str) -> Done:
        """Run the engine, and say how it went."""
        command = ["pulumi", *arguments, "--non-interactive", "--color", "never"]
        engine = subprocess.Popen(
            command,
            cwd=self._project,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            output, errors = engine.communicate(timeout=ENGINE_SECONDS)
        except subprocess.TimeoutExpired as late:
            situation = self.situation()
            engine.terminate()
            output, errors = engine.communicate()
            said = f"{output[-5000:]}{errors}\n{situation}"
            raise AssertionError(f"{' '.join(command)} takes longer than {ENGINE_SECONDS} s\n{said}") from late
        return Done(command, engine.returncode, output, errors)

    def succeeds(self, *arguments: str) -> str:
        """Run the engine, which must succeed; return what it printed."""
        done = self.pulumi(*arguments)
        assert done.returncode == 0, f"pulumi {' '.join(arguments)}\n{done.stdout}{done.stderr}{self.situation()}"
        return done.stdout

    def up(self, *arguments: str) -> str:
        """Bring the cluster in line with the program, under the policies."""
        printed = self.succeeds("up", "--yes", "--skip-preview", "--policy-pack", str(POLICIES), *arguments)
        self._is_up = True
        return printed

    def ensure_up(self) -> None:
        """Bring the platform up, unless it is."""
        if not self._is_up:
            self.up()

    def destroy(self) -> str:
        """Remove everything that the program declares."""
        self._is_up = False
        return self.succeeds("destroy", "--yes", "--skip-preview")

    def plan(self, *arguments: str) -> list[Change]:
        """Return what the engine would change."""
        steps: list[Json] = json.loads(self.succeeds("preview", "--json", *arguments))["steps"]
        return [_change(step) for step in steps if step["op"] not in ("same", "refresh", "read")]

    def kubectl(self, *arguments: str, user: str | None = None, stdin: str | None = None) -> Done:
        """Run kubectl as the administrator, or as one of the teams' people."""
        context = f"{self.sandbox.context}/{user}" if user else self.sandbox.context
        return subprocess.run(
            ["kubectl", "--context", context, *arguments],
            env=self.variables,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def get(self, path: str) -> Json:
        """Read an object or list as the administrator."""
        with self.sandbox.api() as api:
            return api.get(path)

    def find(self, path: str) -> Json | None:
        """Read an object that may not exist."""
        with self.sandbox.api() as api:
            return api.find(path)

    def submit(self, job: Json, user: str = MEMBER) -> Done:
        """Submit a training job as a person does; the test's end removes it."""
        self._submitted.append(job)
        return self.kubectl("apply", "--server-side", "-f", "-", user=user, stdin=json.dumps(job))

    def start(self, job: Json) -> Json:
        """Submit a job as the administrator, once every webhook takes it."""
        self.eventually(lambda: self.submit(job, user="").returncode == 0, "the job's admission")
        return job

    def remove_jobs(self) -> None:
        """Remove the jobs submitted, and wait until their pods are gone."""
        for job in self._submitted:
            metadata = job["metadata"]
            chosen = ["-n", metadata["namespace"], "--ignore-not-found", "--wait", "--cascade=foreground"]
            self.kubectl("delete", "pytorchjob", metadata["name"], *chosen)
        self._submitted.clear()

    def pods_of(self, job: Json) -> dict[str, Json]:
        """Return a job's pods by name."""
        namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
        path = f"/api/v1/namespaces/{namespace}/pods?labelSelector=training.kubeflow.org/job-name={name}"
        return {pod["metadata"]["name"]: pod for pod in self.get(path)["items"]}

    def phases(self, job: Json) -> list[str]:
        """Return the phases of a job's pods, sorted."""
        return sorted(pod["status"]["phase"] for pod in self.pods_of(job).values())

    def job_runs(self, job: Json) -> bool:
        """Return whether a job says that it is running, and every pod it asks for is."""
        namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
        found = self.get(f"/apis/kubeflow.org/v1/namespaces/{namespace}/pytorchjobs/{name}")
        conditions: list[Json] = found.get("status", {}).get("conditions", [])
        says = any(each["type"] == "Running" and each["status"] == "True" for each in conditions)
        pods = self.pods_of(job)
        return says and set(pods) == pod_names(job) and {pod["status"]["phase"] for pod in pods.values()} == {"Running"}

    def eventually(self, condition: Callable[[], bool], what: str, seconds: float = 90.0) -> None:
        """Wait until a condition holds; fail with the platform's situation if it does not."""
        try:
            eventually(condition, seconds)
        except AssertionError as error:
            raise AssertionError(f"{what} did not happen in {seconds:.0f} s\n{self.situation()}") from error

    def situation(self) -> str:
        """Return what helps to understand a failure: every pod, the late warnings, what the operator last said."""
        listed = ["get", "pods,leases", "-A", "-o", "wide"]
        warned = ["get", "events", "-A", "--field-selector", "type=Warning", "--sort-by", ".lastTimestamp"]
        parts = [self.kubectl(*listed).stdout, *self.kubectl(*warned).stdout.splitlines()[-15:]]
        for log in sorted(self.sandbox.layout.pods.glob(f"kubeflow_{NAME}-*/*.log")):
            parts += [f"== {log.parent.name}/{log.name}", *log.read_text(errors="replace").splitlines()[-15:]]
        return "\n".join(parts)


def _change(step: Json) -> Change:
    fields: dict[str, Any] = step.get("detailedDiff") or {}
    return Change(step["urn"].rpartition("::")[2], step["op"], tuple(sorted(fields)))
