"""The Pulumi resource that stands for a bundle of CRDs."""

from __future__ import annotations

import pulumi
from pulumi import dynamic

from infra.core.crds.pins import CrdSource
from infra.core.crds.properties import inputs
from infra.core.crds.provider import CrdProvider
from infra.core.names import bounded


class CrdBundle(dynamic.Resource, module="flotilla", name="CrdBundle"):
    """CRDs from their maker's module, applied server-side to the cluster of a kubeconfig context.

    The engine sees names and hashes; the schemas go from the module straight to the cluster.
    Its type token, `pulumi-python:dynamic/flotilla:CrdBundle`, is frozen.

    Owns the CRDs it applied, as long as they carry its label, and no custom resource. Deleting it is refused
    while custom resources exist, because they would be deleted with their CRD.

    Args:
        name: resource name; the CRDs are labelled with it.
        source: the pinned module.
        context: kubeconfig context of the cluster.
        only: names of the CRDs to apply; None applies all.
        destroy_with_data: let a delete take the custom resources along, once `pulumi up` has applied this.
        allow_storage_change: let the storage version change although there are objects, the two schemas
            differ and nothing converts between them.
        opts: resource options.

    Raises:
        FlotillaError: `only` names a CRD that the source does not have.

    """

    bundle: pulumi.Output[str]
    digest: pulumi.Output[str]
    crds: pulumi.Output[dict[str, str]]

    def __init__(
        self,
        name: str,
        source: CrdSource,
        *,
        context: pulumi.Input[str],
        only: tuple[str, ...] | None = None,
        destroy_with_data: bool = False,
        allow_storage_change: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        chosen = source if only is None else source.keeping(only)
        properties = inputs(
            bounded(name),
            chosen,
            context=context,
            destroy_with_data=destroy_with_data,
            allow_storage_change=allow_storage_change,
        )
        super().__init__(CrdProvider(), name, dict(properties), opts)
