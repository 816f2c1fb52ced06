"""A stack's configuration file, and the cluster it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from infra import paths
from infra.errors import FlotillaError

if TYPE_CHECKING:
    from pathlib import Path

CONTEXT = "flotilla:context"


def config_file(environment: str) -> Path:
    """Return where the environment's stack is configured."""
    return paths.STACKS / f"Pulumi.{environment}.yaml"


def named_context(environment: str) -> str:
    """Return the kubeconfig context that the environment's stack names.

    Raises:
        FlotillaError: there is no such stack, or it names none.
    """
    file = config_file(environment)
    try:
        context = yaml.safe_load(file.read_text(encoding="utf-8"))["config"][CONTEXT]
    except FileNotFoundError as error:
        raise FlotillaError(
            "there is no such stack",
            where=str(file),
            remedy="Say which cluster: --context CONTEXT; `flotilla up` makes the stack local",
        ) from error
    except (KeyError, TypeError, yaml.YAMLError):
        context = None
    if not context:
        raise FlotillaError(
            "the stack names no cluster",
            where=str(file),
            remedy=f"Say which: --context CONTEXT, or pulumi config set {CONTEXT} CONTEXT --stack {environment}",
        )
    return str(context)
