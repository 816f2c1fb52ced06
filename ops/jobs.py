"""Submits a training job as a member of its team, and waits until it runs."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml
from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from infra.errors import FlotillaError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sandbox.api import ApiClient
    from sandbox.cluster import Sandbox

RUNNING_WITHIN_SECONDS = 180


@dataclass(frozen=True, kw_only=True)
class Job:
    """A training job in a file.

    Args:
        path: the file.
        kind: its kind, such as PyTorchJob.
        namespace: its team.
        name: its name.
        replicas: how many pods it asks for.
    """

    path: Path
    kind: str
    namespace: str
    name: str
    replicas: int

    @property
    def url(self) -> str:
        """Its path on the API server."""
        return f"/apis/kubeflow.org/v1/namespaces/{self.namespace}/{self.kind.lower()}s/{self.name}"


def read(path: Path) -> Job:
    """Return the job a file declares."""
    manifest: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    specs = next(value for key, value in manifest["spec"].items() if key.endswith("ReplicaSpecs"))
    return Job(
        path=path,
        kind=manifest["kind"],
        namespace=manifest["metadata"]["namespace"],
        name=manifest["metadata"]["name"],
        replicas=sum(spec["replicas"] for spec in specs.values()),
    )


def submit(job: Job, *, kubeconfig: Path, context: str) -> bool:
    """Apply the job as the context's user; return whether that changed anything.

    Raises:
        FlotillaError: the API server refused it; the message is the one a user sees.
    """
    command = ["kubectl", "--kubeconfig", str(kubeconfig), "--context", context]
    before = _resource_version(command, job)
    applied = subprocess.run(
        [*command, "apply", "--server-side", "-f", str(job.path)], capture_output=True, text=True, check=False
    )
    if applied.returncode:
        raise FlotillaError(" ".join(applied.stderr.split()), where=job.path.name)
    return before is None


def wait_running(job: Job, sandbox: Sandbox, tell: Callable[[str], None]) -> None:
    """Wait until every pod of the job runs, or the job has succeeded.

    Raises:
        FlotillaError: it does not in three minutes; names the pods' own reasons.
    """
    with sandbox.api() as api:

        def running() -> int:
            labels = f"training.kubeflow.org/job-name={job.name}"
            pods = api.get(f"/api/v1/namespaces/{job.namespace}/pods?labelSelector={labels}")["items"]
            count = sum(pod["status"].get("phase") in ("Running", "Succeeded") for pod in pods)
            tell(f"{count} of {job.replicas} pods running")
            return count

        patient = Retrying(
            stop=stop_after_delay(RUNNING_WITHIN_SECONDS),
            wait=wait_fixed(0.5),
            retry=retry_if_result(lambda count: count < job.replicas),
        )
        try:
            patient(running)
        except RetryError as error:
            raise FlotillaError(
                f"{error.last_attempt.result()} of {job.replicas} pods run after {RUNNING_WITHIN_SECONDS} s"
                f"{_last_warning(api, job)}",
                where=f"{job.kind} {job.namespace}/{job.name}",
                remedy=f"See: kubectl -n {job.namespace} describe {job.kind.lower()} {job.name}",
            ) from error


def _last_warning(api: ApiClient, job: Job) -> str:
    """Return what the controller last complained of, which is why pods are missing."""
    selector = f"involvedObject.name={job.name},type=Warning"
    events = api.get(f"/api/v1/namespaces/{job.namespace}/events?fieldSelector={selector}")["items"]
    latest = max(events, key=lambda event: event["lastTimestamp"] or "", default=None)
    return f": {latest['message']}" if latest else ""


def _resource_version(command: list[str], job: Job) -> str | None:
    found = subprocess.run(
        [
            *command,
            "get",
            job.kind.lower(),
            job.name,
            "-n",
            job.namespace,
            "-o",
            "name",
            "--ignore-not-found",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or None
