"""Whether objects that are already stored survive a new definition of their kind."""

from __future__ import annotations

from infra.core.crds.cluster import CrdApi
from infra.core.crds.live import served_path, storage_version
from infra.core.crds.pins import Manifest
from infra.errors import FlotillaError


def check_storage(cluster: CrdApi, live: Manifest, manifest: Manifest, *, allow_change: bool) -> None:
    """Refuse a definition that would strand or silently cut stored objects.

    Raises:
        FlotillaError: objects may be stored in a version that is gone; or the storage version changes while
            there are objects, their schemas differ and nothing converts between them.

    """
    name = manifest["metadata"]["name"]
    versions = [version["name"] for version in manifest["spec"]["versions"]]
    stored = live.get("status", {}).get("storedVersions") or []
    if gone := [version for version in stored if version not in versions]:
        raise FlotillaError(
            f"objects may still be stored as {', '.join(gone)}, which the new definition "
            f"({', '.join(versions)}) no longer has; nothing was applied",
            where=name,
            remedy=f"Rewrite every object, then take {', '.join(gone)} out of status.storedVersions",
        )
    old, new = storage_version(live), storage_version(manifest)
    if allow_change or old["name"] == new["name"] or old.get("schema") == new.get("schema"):
        return
    if manifest["spec"].get("conversion", {}).get("strategy", "None") != "None":
        return
    path = served_path(live)
    count, example = cluster.objects(path) if path else (1, None)
    if count:
        raise FlotillaError(
            f"its storage version changes from {old['name']} to {new['name']}, whose schemas differ, "
            f"and nothing converts the objects ({example or 'no version is served'}); nothing was applied",
            where=name,
            remedy="Back the objects up and delete them, or set allow_storage_change on the bundle when "
            f"fields that {new['name']} lacks may be lost",
        )
