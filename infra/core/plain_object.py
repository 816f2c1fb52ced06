"""Objects of custom kinds whose fields do not lie under `spec`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

if TYPE_CHECKING:
    from collections.abc import Mapping


class PlainObject(pulumi.CustomResource):
    """An object given as YAML shows it; the provider's own `CustomResource` passes nothing on but `spec`.

    Args:
        name: resource name.
        api_version: its API group and version.
        kind: its kind.
        metadata: its metadata, in camelCase.
        body: its other fields, in camelCase.
        opts: resource options.
    """

    def __init__(
        self,
        name: str,
        *,
        api_version: str,
        kind: str,
        metadata: Mapping[str, object],
        body: Mapping[str, object],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        inputs = {"apiVersion": api_version, "kind": kind, "metadata": dict(metadata), **body}
        super().__init__(f"kubernetes:{api_version}:{kind}", name, inputs, opts)
