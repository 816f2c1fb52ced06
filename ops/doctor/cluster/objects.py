"""Small questions to objects as the API server returns them."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from ops.doctor.cluster.api import NOT_FOUND, KubeError

if TYPE_CHECKING:
    from ops.doctor.cluster.api import KubeApi

    Json = dict[str, Any]

LONGEST = 240
"""Most characters of somebody else's message in a finding."""


def find(api: KubeApi, path: str) -> Json | None:
    """Return the object or list at a path, None where there is none."""
    try:
        return api.get(path)
    except KubeError as error:
        if error.status == NOT_FOUND:
            return None
        raise


def items(api: KubeApi, path: str) -> list[Json]:
    """Return a list's items; none of a kind that the API server does not know."""
    return (find(api, path) or {"items": []})["items"]


def labels(item: Json) -> dict[str, str]:
    """Return an object's labels."""
    return item["metadata"].get("labels") or {}


def condition(item: Json, kind: str) -> Json:
    """Return the condition of that type; empty where there is none."""
    found: list[Json] = item.get("status", {}).get("conditions") or []
    return next((each for each in found if each["type"] == kind), {})


def holds(item: Json, kind: str) -> bool:
    """Return whether a condition is true."""
    return condition(item, kind).get("status") == "True"


def ends(item: Json) -> bool:
    """Return whether an object is being deleted."""
    return "deletionTimestamp" in item["metadata"]


def age(item: Json, now: datetime.datetime) -> float:
    """Return how many seconds ago an object was made."""
    return seconds_since(item["metadata"].get("creationTimestamp"), now)


def last_seen(event: Json) -> str:
    """Return when an event happened last, as Kubernetes writes it."""
    series: Json = event.get("series") or {}
    made = event["metadata"].get("creationTimestamp", "")
    return series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime") or made


def seconds_since(stamp: str | None, now: datetime.datetime) -> float:
    """Return how many seconds ago a point in time was, as Kubernetes writes it; 0 for none."""
    return (now - datetime.datetime.fromisoformat(stamp)).total_seconds() if stamp else 0.0


def one_line(text: str | None) -> str:
    """Return a message in one line without a full stop, not too long."""
    short = " ".join(str(text or "").split())
    return (f"{short[:LONGEST]}..." if len(short) > LONGEST else short).rstrip(".")
