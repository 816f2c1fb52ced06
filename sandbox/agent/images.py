"""Which images run as processes: the program that stands for each, and where the image has it."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are looked for, as container runtimes set it."""

NOBODY = 65532
"""The user that images without a root user run as by custom."""

PYTHON = "flotilla.dev/sandbox/python"
"""An image of the sandbox's own: the standard library of the interpreter that runs the agent."""


@dataclass(frozen=True, kw_only=True)
class ProcessImage:
    """What an image is made of when it runs as a process.

    Args:
        tool: name of the program among the sandbox's tools; None for the interpreter that runs the agent.
        path: where the image has the program.
        entrypoint: what runs when the pod names no command.
        user: the user the image runs as when the pod names none.
        environment: variables the image sets.
        whole: whether the program is one of an installation, `bin` and what lies beside it, that comes along.
        elsewhere: whether a program of that name on PATH does as well. Clients of servers do not: where nobody gave
            the sandbox a client, it has no servers either, and a Job that prepares one is best simulated.
    """

    tool: str | None
    path: str
    entrypoint: tuple[str, ...]
    user: int = NOBODY
    environment: dict[str, str] = field(default_factory=dict[str, str])
    whole: bool = False
    elsewhere: bool = True

    def program(self, tools: Path) -> Path | None:
        """Return the program on this machine, or None when it is missing."""
        if self.tool is None:
            return Path(sys.executable).resolve()
        found = shutil.which(self.tool, path=str(tools)) or (shutil.which(self.tool) if self.elsewhere else None)
        return Path(found).resolve() if found else None

    def folders(self) -> tuple[str, ...]:
        """Return the host's folders the program needs besides the system's own."""
        return (sys.base_prefix,) if self.tool is None else ()


def _client(tool: str, *, whole: bool = False) -> ProcessImage:
    """Return an image whose scripts find its client on PATH."""
    folder = f"/opt/{tool}/bin"
    return ProcessImage(
        tool=tool,
        path=f"{folder}/{tool}",
        entrypoint=("sh",),
        environment={"PATH": f"{folder}:{PATH}"},
        whole=whole,
        elsewhere=False,
    )


PROCESS_IMAGES: dict[str, ProcessImage] = {
    "ghcr.io/kubeflow/training-v1/training-operator": ProcessImage(
        tool="training-operator", path="/manager", entrypoint=("/manager",)
    ),
    "registry.k8s.io/kueue/kueue": ProcessImage(tool="kueue", path="/manager", entrypoint=("/manager",)),
    "registry.k8s.io/scheduler-plugins/kube-scheduler": ProcessImage(
        tool="gang-scheduler",
        path="/opt/kube-scheduler/bin/kube-scheduler",
        entrypoint=("kube-scheduler",),
        environment={"PATH": f"/opt/kube-scheduler/bin:{PATH}"},
        elsewhere=False,
    ),
    "flotilla.dev/sandbox/karpenter": ProcessImage(tool="karpenter", path="/karpenter", entrypoint=("/karpenter",)),
    "ghcr.io/open-telemetry/opentelemetry-collector-releases/opentelemetry-collector-contrib": ProcessImage(
        tool="event-exporter", path="/otelcol-contrib", entrypoint=("/otelcol-contrib",), user=10001, elsewhere=False
    ),
    "docker.io/apache/kafka": ProcessImage(
        tool="kafka-topics.sh", path="/opt/kafka/bin/kafka-topics.sh", entrypoint=("sh",), whole=True, elsewhere=False
    ),
    "docker.io/library/mysql": _client("mariadb"),
    "docker.io/library/postgres": _client("psql", whole=True),
    "docker.io/curlimages/curl": _client("curl"),
    PYTHON: ProcessImage(
        tool=None,
        path="/opt/python/bin/python3",
        entrypoint=("python3",),
        environment={"PATH": f"/opt/python/bin:{PATH}"},
    ),
}
"""By repository: an image reference without tag and digest."""


def repository(reference: str) -> str:
    """Return an image reference without its tag and digest."""
    name = reference.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return head if colon and "/" not in tag else name


def image_of(container: Json) -> ProcessImage | None:
    """Return what a container's image is made of, or None when it can only be simulated."""
    return PROCESS_IMAGES.get(repository(container.get("image", "")))


def is_process_pod(pod: Json) -> bool:
    """Return whether the agent runs this pod: every container's image has a program.

    Init containers do not decide: one without a program is taken to have done its work.
    """
    containers = pod["spec"].get("containers", [])
    return bool(containers) and all(image_of(container) for container in containers)
