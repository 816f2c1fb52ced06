"""The Pulumi program: load the stack's settings, declare the platform, export what others look up."""

from __future__ import annotations

import pulumi

from infra.core.chart_archive import fetched
from infra.core.crds.cluster import Cluster
from infra.core.ownership import own_declared_fields
from infra.errors import FlotillaError
from infra.kubeflow import declare
from infra.settings import load


def cluster_context(stack: str) -> str:
    """Return the kubeconfig context of the stack's cluster.

    Raises:
        FlotillaError: the stack names none; the ambient one is never used.
    """
    if context := pulumi.Config("flotilla").get("context"):
        return context
    raise FlotillaError(
        "the stack names no cluster",
        where=f"stacks/Pulumi.{stack}.yaml",
        remedy=f"Run: pulumi config set flotilla:context CONTEXT --stack {stack}",
    )


def require_cluster(context: str) -> None:
    """Refuse to begin what cannot be done: an update whose cluster does not answer changes nothing, state included.

    A preview needs no cluster.
    """
    with Cluster(context) as cluster:
        cluster.require()


def main() -> None:
    """Declare the stack's environment; a mistake in its settings ends the run without a stack trace."""
    stack = pulumi.get_stack()
    own_declared_fields()
    try:
        settings, context = load(stack), cluster_context(stack)
        if not pulumi.runtime.is_dry_run():
            require_cluster(context)
        with fetched():
            platform = declare(settings, context)
    except FlotillaError as error:
        raise pulumi.RunError(str(error)) from error
    for name, value in platform.outputs().items():
        pulumi.export(name, value)


main()
