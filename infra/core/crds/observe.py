"""Finding drift: which of a bundle's CRDs are no longer what was applied."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from infra.core.crds.cluster import CrdApi, revision
from infra.core.crds.live import live_fingerprint
from infra.core.crds.properties import Applied, applied_of

WORKERS = 4
"""Requests in flight at once: enough to hide latency, too few to trouble an API server."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What is live of a bundle.

    Attributes:
        crds: by CRD name its pin, or the fingerprint of what was made of it; a deleted CRD is missing.
        applied: what the bundle remembers from now on.

    """

    crds: dict[str, str]
    applied: dict[str, Applied]


def observe(cluster: CrdApi, properties: Mapping[str, Any]) -> Observation | None:
    """Compare the live CRDs with what was applied; None when none is left.

    One small request for the whole bundle; a schema is read only where its revision moved.
    """
    applied = applied_of(properties)
    revisions = cluster.revisions(properties["bundle"])
    moved = [name for name, record in applied.items() if revisions.get(name) != record["revision"]]
    with ThreadPoolExecutor(WORKERS) as pool:
        live = dict(zip(moved, pool.map(cluster.get, moved), strict=True))
    crds: dict[str, str] = {}
    remembered: dict[str, Applied] = {}
    for name, record in applied.items():
        crd = live.get(name)
        remembered[name] = record
        if name not in live:
            crds[name] = record["pin"]
        elif crd is None:
            continue
        elif (found := live_fingerprint(crd)) == record["live"]:
            crds[name] = record["pin"]
            if uid_of(revision(crd)) != uid_of(record["revision"]):
                remembered[name] = {**record, "revision": revision(crd)}
        else:
            crds[name] = f"drifted {found}"
    return Observation(crds=crds, applied=remembered) if crds else None


def uid_of(revision: str) -> str:
    """Return the uid in a `uid/generation`."""
    return revision.partition("/")[0]
