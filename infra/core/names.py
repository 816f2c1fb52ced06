"""Names, labels and annotations that every object of the platform carries.

They are part of the platform's contract with running clusters: selectors are immutable and alerts, policies and
network rules match on labels. `tests/unit/core/test_names.py` freezes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

DOMAIN = "flotilla.dev"
"""The domain of Flotilla's own labels and annotations."""

AVAILABILITY = f"{DOMAIN}/availability"
SINGLETON_REASON = f"{DOMAIN}/singleton-reason"
PRIVILEGED_REASON = f"{DOMAIN}/privileged-reason"
NO_PROBES_REASON = f"{DOMAIN}/no-probes-reason"
NODE_PURPOSE = f"{DOMAIN}/purpose"
NODE_POOL = f"{DOMAIN}/pool"
TEAM = f"{DOMAIN}/team"
CHART_DIGEST = f"{DOMAIN}/chart-digest"
FILES_DIGEST = f"{DOMAIN}/files-digest"

PLATFORM_PRIORITY = "flotilla-platform"
"""PriorityClass of everything the platform itself runs."""

SERVING_PRIORITY = "flotilla-serving"
TRAINING_PRIORITY = "flotilla-training"
BATCH_PRIORITY = "flotilla-batch"
"""PriorityClasses of what teams run."""

MAX_NAME = 63
"""Longest DNS label, in characters; Services, label values and most names share it."""

_HASH = 8


def bounded(name: str, limit: int = MAX_NAME) -> str:
    """Return `name`, shortened to `limit` characters with a hash of the whole when it is longer.

    Two different long names stay different; a name that fits is returned unchanged.
    """
    if len(name) <= limit:
        return name
    kept = name[: limit - _HASH - 1].rstrip("-.")
    return f"{kept}-{_digest(name)}"


def versioned(name: str, *parts: str) -> str:
    """Return `name` with a hash of what its object is made of, for objects that cannot be changed, only replaced."""
    digest = _digest("\0".join(parts))
    return f"{bounded(name, MAX_NAME - len(digest) - 1)}-{digest}"


def selector(name: str) -> dict[str, str]:
    """Return the labels that select one workload's pods; immutable once released."""
    return {"app.kubernetes.io/name": bounded(name)}


def labels(name: str, *, part_of: str, version: str | None = None) -> dict[str, str]:
    """Return the recommended labels for an object of the workload or component `name`.

    Args:
        name: the workload or component.
        part_of: the group it serves, such as `training` or `mesh`.
        version: the version of what runs; left out for objects that run nothing.

    Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/
    """
    common = selector(name) | {
        "app.kubernetes.io/part-of": part_of,
        "app.kubernetes.io/managed-by": "flotilla",
    }
    return common | ({"app.kubernetes.io/version": bounded(version)} if version else {})


def files_digest(files: Mapping[str, str]) -> dict[str, str]:
    """Return the annotation by which pods are replaced when the files they read from a ConfigMap change."""
    return {FILES_DIGEST: _digest("\0".join(f"{name}\0{files[name]}" for name in sorted(files)))}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH]
