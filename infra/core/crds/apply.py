"""Applying a bundle: everything is checked before anything is changed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from infra.core.crds.cluster import CrdApi, revision
from infra.core.crds.live import bundle_of, is_established, live_fingerprint, naming_conflict, purged
from infra.core.crds.observe import WORKERS
from infra.core.crds.pins import Manifest
from infra.core.crds.properties import Applied, desired
from infra.core.crds.remove import plan_removal, remove
from infra.core.crds.storage import check_storage
from infra.errors import FlotillaError

_ESTABLISHED_WITHIN_SECONDS = 60.0
_POLL_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What applying a bundle left.

    Attributes:
        applied: what to remember of each CRD.
        notes: what a person should know.

    """

    applied: dict[str, Applied]
    notes: list[str]


def apply(cluster: CrdApi, properties: Mapping[str, Any], before: Mapping[str, Applied]) -> Outcome:
    """Bring the cluster to what the inputs declare: apply changed and drifted CRDs, remove dropped ones.

    Args:
        cluster: the API server.
        properties: the bundle's inputs.
        before: what the bundle remembers of its CRDs.

    Raises:
        FlotillaError: a schema cannot be had, a change would lose data, or the API server refuses one; then
            nothing was changed. Or a CRD was accepted and is not served.

    """
    revisions = cluster.revisions(properties["bundle"]) if before else {}
    current = {
        name: record
        for name, record in before.items()
        if properties["crds"].get(name) == record["pin"] and revisions.get(name) == record["revision"]
    }
    due = [name for name in properties["crds"] if name not in current]
    manifests = desired(properties) if due else {}
    dropped = {name: record for name, record in before.items() if name not in properties["crds"]}
    removal = plan_removal(cluster, properties, dropped)
    with ThreadPoolExecutor(WORKERS) as pool:
        check = partial(_check, cluster, allow_storage_change=properties.get("allowStorageChange", False))
        takeovers = list(pool.map(check, [manifests[name] for name in due]))
        lives = list(pool.map(partial(_apply_one, cluster), [manifests[name] for name in due]))
    for name, live in zip(due, lives, strict=True):
        current[name] = {
            "pin": properties["crds"][name],
            "live": live_fingerprint(live),
            "revision": revision(live),
        }
    remove(cluster, removal)
    notes = [*filter(None, takeovers), *removal.notes]
    return Outcome(applied=dict(sorted(current.items())), notes=notes)


def _check(cluster: CrdApi, manifest: Manifest, *, allow_storage_change: bool) -> str | None:
    """Try the manifest; return a note when it takes a CRD over from somebody else."""
    name = manifest["metadata"]["name"]
    live = cluster.get(name)
    if live is not None:
        check_storage(cluster, live, manifest, allow_change=allow_storage_change)
    cluster.apply(manifest, dry_run=True)
    if live is None or bundle_of(live) == bundle_of(manifest):
        return None
    return f"{name} was there already and is taken over from {bundle_of(live) or 'its owner'}"


def _apply_one(cluster: CrdApi, manifest: Manifest) -> Manifest:
    """Apply a CRD and return it once it is served."""
    live = cluster.apply(manifest)
    if (clean := purged(live, manifest)) is not None:
        live = cluster.replace(clean)
    name = manifest["metadata"]["name"]
    until = time.monotonic() + _ESTABLISHED_WITHIN_SECONDS
    while not is_established(live):
        if conflict := naming_conflict(live):
            raise FlotillaError(
                f"the API server does not serve it: {conflict}",
                where=name,
                remedy="Remove the other CRD that claims the same names",
            )
        if time.monotonic() > until:
            raise FlotillaError(
                f"not served {_ESTABLISHED_WITHIN_SECONDS:.0f} s after it was applied",
                where=name,
                remedy="See the API server's log, then run it again",
            )
        time.sleep(_POLL_SECONDS)
        live = cluster.get(name) or live
    return live
