"""Removing CRDs without losing what was made with them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from infra.core.crds.cluster import CrdApi, revision
from infra.core.crds.live import bundle_of, served_path
from infra.core.crds.observe import uid_of
from infra.core.crds.pins import Manifest
from infra.core.crds.properties import Applied
from infra.errors import FlotillaError

_GONE_WITHIN_SECONDS = 120.0
_POLL_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True)
class Removal:
    """What may be deleted.

    Attributes:
        uids: uid by name of each CRD to delete.
        notes: what is left alone, and why.

    """

    uids: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])


def plan_removal(cluster: CrdApi, properties: Mapping[str, Any], records: Mapping[str, Applied]) -> Removal:
    """Return which of the remembered CRDs may be deleted; those of other owners are left alone.

    Raises:
        FlotillaError: custom resources would be deleted with a CRD, and `destroyWithData` is not set.

    """
    plan = Removal()
    in_use: dict[str, str] = {}
    for name, record in records.items():
        live = cluster.get(name)
        if live is None:
            continue
        if reason := _foreign(live, properties["bundle"], record):
            plan.notes.append(f"{name} is left alone: {reason}")
            continue
        plan.uids[name] = live["metadata"]["uid"]
        if not properties.get("destroyWithData") and (use := _use(cluster, live)):
            in_use[name] = use
    if in_use:
        raise FlotillaError(
            f"custom resources would be deleted with their CRDs: {'; '.join(in_use.values())}. Nothing was deleted",
            where=f"context {properties['context']}",
            remedy=f"Delete them first (kubectl delete {','.join(in_use)} --all -A), or set "
            "destroy_with_data on the bundle and apply that with pulumi up",
        )
    return plan


def remove(cluster: CrdApi, plan: Removal) -> None:
    """Delete the planned CRDs and wait until they are gone.

    Raises:
        FlotillaError: a CRD does not go, because objects of it have finalizers that nobody removes.

    """
    for name, uid in plan.uids.items():
        cluster.delete(name, uid)
    until = time.monotonic() + _GONE_WITHIN_SECONDS
    for name, uid in plan.uids.items():
        while (live := cluster.get(name)) is not None and live["metadata"]["uid"] == uid:
            if time.monotonic() > until:
                raise FlotillaError(
                    f"still being deleted after {_GONE_WITHIN_SECONDS:.0f} s",
                    where=name,
                    remedy="Its objects wait for finalizers: run their controller, or remove the finalizers",
                )
            time.sleep(_POLL_SECONDS)


def _foreign(live: Manifest, bundle: str, record: Applied) -> str | None:
    if (owner := bundle_of(live)) != bundle:
        return f"it belongs to {owner}" if owner else "it does not carry our label any more"
    if uid_of(revision(live)) != uid_of(record["revision"]):
        return "it was deleted and made anew since"
    return None


def _use(cluster: CrdApi, live: Manifest) -> str | None:
    name = live["metadata"]["name"]
    path = served_path(live)
    if path is None:
        return f"{name} (unknown: no version is served)"
    count, example = cluster.objects(path)
    return f"{name} ({count}, for example {example})" if count else None
