"""A platform with a gang scheduler on three machines of eight GPUs, and what tests ask of it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import yaml

from infra.components.cluster.gangs.coscheduling import NAME, NAMESPACE
from infra.paths import VALUES
from infra.settings import load
from tests.e2e.leaders import Replicas
from tests.e2e.platform import Platform
from tests.e2e.queues import COMPLETES, ENVIRONMENT, PROGRAM, SMALL, size

if TYPE_CHECKING:
    from pathlib import Path

    from infra.settings import Settings
    from sandbox.api import Json
    from sandbox.cluster import Sandbox

SCHEDULER = "gangs"
QUOTA = {"cpu": 200, "memory": "2Ti", "gpus": 24, "pods": 100, "sharedStorage": "2Ti"}
"""Of each team: all GPUs there are, so that machines are what jobs contend for."""


def write_values(folder: Path) -> Settings:
    """Write the tests' environment, which is `local` with a gang scheduler and larger quotas; return it."""
    folder.mkdir(parents=True)
    shutil.copy(VALUES / "base.yaml", folder)
    values: Json = yaml.safe_load((VALUES / "local.yaml").read_text())
    for team in values["teams"]:
        team["quota"] = QUOTA
    values["scheduling"] = {
        "gangs": {"kind": "coscheduling", "installed": "install", "schedulerName": SCHEDULER, "resources": SMALL}
    }
    (folder / f"{ENVIRONMENT}.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    return load(ENVIRONMENT, folder)


class Gangs(Platform):
    """The environment of the tests, with both replicas of the gang scheduler as processes.

    Args:
        sandbox: a running sandbox with the nodes of the environment.
        folder: the folder in whose `values` the environment stands.
    """

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        super().__init__(sandbox, folder)
        self.variables["QUEUES_FOLDER"] = str(folder)
        self.run_program(PROGRAM)
        self.scheduler = Replicas(platform=self, namespace=NAMESPACE, name=NAME, lease=NAME, container=NAME)

    def situation(self) -> str:
        """Return what helps to understand a failure: also the groups, and what the scheduler last said."""
        listed = self.kubectl("get", "podgroups.scheduling.x-k8s.io,pytorchjobs", "-A", "-o", "wide").stdout
        return "\n".join([super().situation(), listed, *self.scheduler.said()])

    def group(self, job: Json) -> Json:
        """Return the job's PodGroup; empty when there is none yet."""
        metadata = job["metadata"]
        space = f"/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{metadata['namespace']}"
        return self.find(f"{space}/podgroups/{metadata['name']}") or {}

    def placed(self, job: Json) -> int:
        """Return how many of a job's pods have a node."""
        return sum(1 for pod in self.pods_of(job).values() if pod["spec"].get("nodeName"))

    def runs(self, job: Json) -> bool:
        """Return whether every pod of the job runs."""
        return self.phases(job) == ["Running"] * size(job)

    def refusals(self, job: Json) -> list[str]:
        """Return why the job's pods have no node, a text for each that was refused one."""
        conditions = [
            condition
            for pod in self.pods_of(job).values()
            for condition in pod["status"].get("conditions", [])
            if condition["type"] == "PodScheduled" and condition["status"] == "False"
        ]
        return [each["message"] for each in conditions if each["reason"] == "Unschedulable"]

    def finish(self, job: Json) -> None:
        """Let every pod of a job end with success, and wait until none holds a node."""
        for pod in self.pods_of(job):
            done = self.kubectl("annotate", "pod", pod, "-n", job["metadata"]["namespace"], f"{COMPLETES}=1s")
            assert done.returncode == 0, done.stderr
        self.eventually(
            lambda: all(pod["status"]["phase"] == "Succeeded" for pod in self.pods_of(job).values()),
            f"the success of {job['metadata']['name']}",
        )
