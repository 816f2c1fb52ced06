"""What applying a bundle would change, CRD by CRD and field by field, as the API server itself sees it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from infra.core.crds.changes import Change, changes
from infra.core.crds.cluster import CrdApi
from infra.core.crds.live import purged
from infra.core.crds.observe import WORKERS
from infra.core.crds.pins import Manifest
from infra.core.crds.properties import desired


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One CRD, as it is and as it would be.

    Args:
        name: the CRD's name.
        exists: whether the cluster has it.
        wanted: whether the bundle has it.
        changes: the fields that would change.

    """

    name: str
    exists: bool = True
    wanted: bool = True
    changes: tuple[Change, ...] = ()


def compare(cluster: CrdApi, properties: Mapping[str, Any]) -> list[Comparison]:
    """Compare the live CRDs with the bundle by server-side dry run; changes nothing.

    Args:
        cluster: the API server.
        properties: the bundle's inputs.

    Raises:
        FlotillaError: a schema cannot be had, or the API server refuses one.

    """
    manifests = desired(properties)
    with ThreadPoolExecutor(WORKERS) as pool:
        compared = list(pool.map(lambda manifest: _compare_one(cluster, manifest), manifests.values()))
    surplus = sorted(cluster.revisions(properties["bundle"]).keys() - manifests.keys())
    return [*compared, *(Comparison(name=name, wanted=False) for name in surplus)]


def _compare_one(cluster: CrdApi, manifest: Manifest) -> Comparison:
    name = manifest["metadata"]["name"]
    live = cluster.get(name)
    applied = cluster.apply(manifest, dry_run=True)
    if live is None:
        return Comparison(name=name, exists=False)
    becomes = purged(applied, manifest) or applied
    return Comparison(name=name, changes=tuple(changes(_declared(live), _declared(becomes))))


def _declared(crd: Manifest) -> dict[str, Any]:
    """Return the parts of a CRD that people declare."""
    metadata = crd["metadata"]
    kept = {key: metadata.get(key) or {} for key in ("labels", "annotations")}
    return {"metadata": kept, "spec": crd["spec"]}
