"""Declares the training operator's CRDs, as a bundle or, for comparison, as resources with all their properties."""

from __future__ import annotations

import pulumi
from pulumi_kubernetes.yaml.v2 import ConfigGroup

from infra.core.crds import sources
from infra.core.crds.bundle import CrdBundle
from infra.core.provider import cluster_provider
from infra.crd_sources import TRAINING_OPERATOR


def main() -> None:
    """Declare the CRDs as `bench:bundle` says."""
    context = pulumi.Config("flotilla").require("context")
    if pulumi.Config("bench").require_bool("bundle"):
        CrdBundle("schemas", TRAINING_OPERATOR, context=context)
    else:
        opts = pulumi.ResourceOptions(provider=cluster_provider(context))
        ConfigGroup("schemas", objs=sources.manifests(TRAINING_OPERATOR), opts=opts)


main()
