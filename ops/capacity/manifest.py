"""Reads jobs from manifests, as teams submit them, for capacity to judge."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import yaml
from pydantic_core import PydanticCustomError

from infra.errors import FlotillaError
from infra.settings.capacity.placement import Job, Pods
from infra.settings.capacity.pools import BLOCKING, Amounts
from infra.settings.quantity import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Json = dict[str, Any]

KINDS = "PyTorchJob and its like, Job, JobSet and Pod"


def read(path: Path) -> list[Job]:
    """Return the jobs a file declares.

    Raises:
        FlotillaError: it cannot be read, or declares something other than a job.
    """
    try:
        documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise FlotillaError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FlotillaError(f"is not YAML: {' '.join(str(error).split())}", where=str(path)) from None
    try:
        return [_job(document) for document in documents if document is not None]
    except PydanticCustomError as error:
        raise FlotillaError(str(error), where=str(path)) from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        remedy = f"Give a manifest of {KINDS}"
        raise FlotillaError(f"is not a whole job: {error}", where=str(path), remedy=remedy) from None


def _job(manifest: Json) -> Job:
    metadata = manifest["metadata"]
    groups = tuple(_pods(name, count, template) for name, count, template in _templates(manifest))
    return Job(name=metadata["name"], team=metadata.get("namespace", "default"), groups=groups)


def _templates(manifest: Json) -> Iterator[tuple[str, int, Json]]:
    """Yield name, number and template of each group of pods that run at once."""
    spec, kind = manifest["spec"], manifest["kind"]
    replicated = next((value for key, value in spec.items() if key.endswith("ReplicaSpecs")), None)
    if replicated is not None:
        for name, group in replicated.items():
            yield name.lower(), int(group.get("replicas", 1)), group["template"]
    elif kind == "JobSet":
        for group in spec["replicatedJobs"]:
            job = group["template"]["spec"]
            yield group["name"], int(group.get("replicas", 1)) * int(job.get("parallelism", 1)), job["template"]
    elif kind == "Job":
        yield "job", int(spec.get("parallelism", 1)), spec["template"]
    elif kind == "Pod":
        yield "pod", 1, manifest
    else:
        raise ValueError(f"it is a {kind}")


def _pods(name: str, count: int, template: Json) -> Pods:
    spec = template["spec"]
    return Pods(
        name=name,
        count=count,
        each=requests(spec),
        selector=dict(spec.get("nodeSelector") or {}),
        tolerations=tolerated(spec.get("tolerations") or []),
    )


def requests(spec: Json) -> Amounts:
    """Return what the scheduler counts for a pod: its containers together, or its largest init container."""
    together = sum((_container(each) for each in spec["containers"]), Amounts())
    each = [together, *(_container(first) for first in spec.get("initContainers") or [])]
    devices = sorted({name for amounts in each for name in amounts.devices})
    return Amounts(
        cpu=max(amounts.cpu for amounts in each),
        memory=max(amounts.memory for amounts in each),
        devices={name: max(amounts.device(name) for amounts in each) for name in devices},
    )


def _container(container: Json) -> Amounts:
    resources = container.get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}

    def of(name: str) -> Decimal:
        return Quantity.parse(str(asked.get(name, 0))).value

    devices = {name: int(of(name)) for name in asked if "/" in name}
    return Amounts(cpu=of("cpu"), memory=of("memory"), devices=devices)


def tolerated(tolerations: list[Json]) -> frozenset[str] | None:
    """Return the keys of the taints that the pods tolerate; None when they tolerate all."""
    blocking = [each for each in tolerations if each.get("effect") in (None, "", *BLOCKING)]
    if any(not each.get("key") and each.get("operator") == "Exists" for each in blocking):
        return None
    return frozenset(str(each["key"]) for each in blocking if each.get("key"))
