"""Small parts to declare workloads from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from infra.core.availability import Availability, Replicated
from infra.core.parts import Container, Image, Probe, Probes, health
from infra.core.workload import Workload, WorkloadArgs
from infra.settings.models.resources import Resources
from tests.unit.core.recording import Recording, record

NAME = "boat"
NAMESPACE = "harbour"
TWO = Replicated(replicas=2)

CONTAINER = Container(
    image=Image(repository="example.com/boat", tag="v1", version="v1"),
    probes=Probes(readiness=Probe(path="/readyz", port="http-health")),
    ports=[health(8081)],
)


def resources(**limits: str) -> Resources:
    """Return resources with a memory limit, and a limit of CPU when given."""
    return Resources.model_validate(
        {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi", **limits}}
    )


def container(**changes: Any) -> Container:
    """Return the example container with some parts changed."""
    return replace(CONTAINER, **changes)


def workload(availability: Availability = TWO, **arguments: Any) -> Recording:
    """Return what a workload of that availability declares."""
    args: dict[str, Any] = {
        "namespace": NAMESPACE,
        "part_of": "fleet",
        "container": CONTAINER,
        "resources": resources(),
        **arguments,
    }
    return record(lambda: Workload(NAME, WorkloadArgs(availability=availability, **args)))
