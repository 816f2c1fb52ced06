"""Who owns a field: what is declared here wins over whoever changed it by hand."""

from __future__ import annotations

from typing import Any, cast

import pulumi
from pulumi.runtime import register_resource_transform

FORCE = "pulumi.com/patchForce"
"""Makes the provider take a declared field back. Without it a `kubectl scale` owns the replicas from then on, and the
next `up` fails with a conflict instead of mending the drift. Fields that are not declared stay with their owners."""


def own_declared_fields() -> None:
    """Have every Kubernetes object of the stack take its declared fields back on `pulumi up`."""
    register_resource_transform(_force)


def _force(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    metadata = cast("dict[str, Any] | None", args.props.get("metadata"))
    if not args.type_.startswith("kubernetes:") or not isinstance(metadata, dict):
        return None
    annotations = {**(metadata.get("annotations") or {}), FORCE: "true"}
    props = {**args.props, "metadata": {**metadata, "annotations": annotations}}
    return pulumi.ResourceTransformResult(props=props, opts=args.opts)
