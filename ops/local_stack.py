"""The stack of the embedded cluster: its configuration is this machine's own, so it is written here, not committed."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

import psutil
import yaml

from infra import paths
from infra.errors import FlotillaError
from ops.stack_config import CONTEXT, config_file

if TYPE_CHECKING:
    from ops.stack import Stack
    from sandbox.cluster import Sandbox

CLUSTER_UID = paths.STATE / "cluster-uid"
LOCKS = paths.STATE / "pulumi" / ".pulumi" / "locks" / "organization" / "flotilla"
"""Where the engine's file backend keeps a stack's lock: one file for each process that holds it."""
ENGINE = "pulumi"


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


def release_lost_lock(environment: str) -> None:
    """Remove the lock of an engine that was killed, which the next one would wait for in vain.

    Raises:
        FlotillaError: an engine that still runs, or one on another machine, holds it.
    """
    for path in sorted((LOCKS / environment).glob("*.json")):
        lock: dict[str, str | int] = json.loads(path.read_text())
        if lock["hostname"] != socket.gethostname() or _runs(int(lock["pid"])):
            raise FlotillaError(
                f"another pulumi works on it: process {lock['pid']} of {lock['username']} on {lock['hostname']}",
                where=f"stack {environment}",
                remedy="Wait until it has ended, or end it",
            )
        path.unlink()


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).name() == ENGINE
    except psutil.NoSuchProcess:
        return False
