"""The downward API: what a pod may ask about itself."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

from kubernetes.utils.quantity import parse_quantity

Json = dict[str, Any]

_ENTRY = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")


def pod_field(pod: Json, path: str) -> str | None:
    """Return a field of a pod as a variable or file shows it; None when there is no such field."""
    metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status", {})
    if match := _ENTRY.fullmatch(path):
        return metadata.get(match.group(1), {}).get(match.group(2), "")
    if path in {"metadata.labels", "metadata.annotations"}:
        entries: dict[str, str] = metadata.get(path.removeprefix("metadata."), {})
        return "\n".join(f'{key}="{_quoted(value)}"' for key, value in sorted(entries.items()))
    values: dict[str, str | None] = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata.get("uid"),
        "spec.nodeName": spec.get("nodeName"),
        "spec.serviceAccountName": spec.get("serviceAccountName", "default"),
        "status.hostIP": status.get("hostIP"),
        "status.hostIPs": status.get("hostIP"),
        "status.podIP": status.get("podIP"),
        "status.podIPs": status.get("podIP"),
    }
    return values.get(path)


def resource_field(pod: Json, container: Json, reference: Json, node: Json | None = None) -> str:
    """Return a container's request or limit as a whole number of the divisor, rounded up.

    A limit that is not set is what the node has; a request that is not set is 0.
    """
    if named := reference.get("containerName"):
        container = next(item for item in pod["spec"]["containers"] if item["name"] == named)
    kind, _, resource = reference["resource"].partition(".")
    value = container.get("resources", {}).get(kind, {}).get(resource)
    if value is None and kind == "limits":
        value = (node or {}).get("status", {}).get("allocatable", {}).get(resource)
    return str(_whole(parse_quantity(value or 0) / (_divisor(reference) or 1)))


def _divisor(reference: Json) -> Decimal:
    try:
        return parse_quantity(reference.get("divisor", 1))
    except (ValueError, InvalidOperation):
        return Decimal(1)


def _whole(value: Decimal) -> int:
    return int(value) + (value != int(value))


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
