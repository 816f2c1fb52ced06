"""The Pulumi program: load the stack's settings, declare the platform, export what others look up."""

from __future__ import annotations

import pulumi

from infra.errors import FlotillaError
from infra.kubeflow import declare
from infra.settings import load


def main() -> None:
    """Declare the stack's environment; a mistake in its settings ends the run without a stack trace."""
    config = pulumi.Config("flotilla")
    context = config.get("context")
    try:
        if context is None:
            raise FlotillaError(
                "the stack names no cluster",
                where=f"stacks/Pulumi.{pulumi.get_stack()}.yaml",
                remedy="Set it: pulumi config set flotilla:context CONTEXT-OF-YOUR-KUBECONFIG",
            )
        platform = declare(load(pulumi.get_stack()), context)
    except FlotillaError as error:
        raise pulumi.RunError(str(error)) from error
    for name, value in platform.outputs().items():
        pulumi.export(name, value)


main()
