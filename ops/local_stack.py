"""The stack of the embedded cluster: its configuration is this machine's own, so it is written here, not committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from infra import paths

if TYPE_CHECKING:
    from pathlib import Path

    from ops.stack import Stack
    from sandbox.cluster import Sandbox

CONTEXT = "flotilla:context"
CLUSTER_UID = paths.STATE / "cluster-uid"


def config_file(environment: str) -> Path:
    """Return the stack's configuration file."""
    return paths.STACKS / f"Pulumi.{environment}.yaml"


def write_config(environment: str, context: str) -> None:
    """Name the cluster in the stack's configuration, keeping the rest: the engine adds its key's salt there."""
    path = config_file(environment)
    content: dict[str, dict[str, str]] = yaml.safe_load(path.read_text()) if path.exists() else {}
    if content.get("config", {}).get(CONTEXT) == context:
        return
    content["config"] = content.get("config", {}) | {CONTEXT: context}
    path.write_text(yaml.safe_dump(content))


def forget_lost_cluster(stack: Stack, sandbox: Sandbox) -> None:
    """Drop the stack's state when the cluster it describes was removed and made anew.

    Nothing but the engine's memory of objects that no longer exist is lost.
    """
    with sandbox.api() as api:
        uid: str = api.get("/api/v1/namespaces/kube-system")["metadata"]["uid"]
    known = CLUSTER_UID.read_text().strip() if CLUSTER_UID.exists() else None
    if known not in (None, uid) and stack.has_resources:
        stack.forget()
    CLUSTER_UID.write_text(f"{uid}\n")
