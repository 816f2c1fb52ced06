"""The properties of a bundle as the engine keeps them: a few names and hashes, never a schema.

These keys are in every stack's state; they may be added to, not renamed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, cast

from infra.core.crds.pins import CrdSource, Manifest
from infra.core.crds.sources import manifests
from infra.core.names import DOMAIN

BUNDLE_LABEL = f"{DOMAIN}/crd-bundle"
"""Label of every CRD a bundle applied; its value is the bundle's name."""

Properties = dict[str, Any]
"""A property bag as it crosses the engine's wire."""


class Applied(TypedDict):
    """What a bundle remembers of one CRD it applied.

    Attributes:
        pin: fingerprint of the manifest.
        live: fingerprint of the specification that the API server made of it.
        revision: the live object's uid and generation; while it stays, so does the specification.

    """

    pin: str
    live: str
    revision: str


def inputs(
    name: str, source: CrdSource, *, context: object, destroy_with_data: bool, allow_storage_change: bool
) -> Properties:
    """Return the inputs that declare a bundle."""
    return {
        "bundle": name,
        "context": context,
        "source": {
            "module": source.module,
            "version": source.version,
            "h1": source.h1,
            "paths": list(source.paths),
        },
        "digest": source.digest,
        "crds": dict(sorted(source.crds.items())),
        "destroyWithData": destroy_with_data,
        "allowStorageChange": allow_storage_change,
    }


INPUTS = ("bundle", "context", "source", "digest", "crds", "destroyWithData", "allowStorageChange")
"""Names of a bundle's inputs."""


def source_of(properties: Mapping[str, Any]) -> CrdSource:
    """Return the source that a bundle's inputs name, holding just the CRDs of that bundle."""
    source = properties["source"]
    return CrdSource(
        module=source["module"],
        version=source["version"],
        h1=source["h1"],
        paths=tuple(source["paths"]),
        crds=dict(properties["crds"]),
    )


def desired(properties: Mapping[str, Any]) -> dict[str, Manifest]:
    """Return a bundle's CRDs by name, exactly as they are applied: the maker's manifests with our label.

    Raises:
        FlotillaError: the schemas cannot be had.

    """
    return {
        manifest["metadata"]["name"]: labelled(manifest, properties["bundle"])
        for manifest in manifests(source_of(properties))
    }


def labelled(manifest: Manifest, bundle: str) -> Manifest:
    """Return the manifest with the label of the bundle it belongs to."""
    metadata = manifest["metadata"]
    labels = {**metadata.get("labels", {}), BUNDLE_LABEL: bundle}
    return {**manifest, "metadata": {**metadata, "labels": labels}}


def applied_of(properties: Mapping[str, Any]) -> dict[str, Applied]:
    """Return what a bundle's outputs remember, by CRD name."""
    return cast("dict[str, Applied]", properties.get("applied") or {})
