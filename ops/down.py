"""The `flotilla down` command."""

from __future__ import annotations

import shutil

from ops.console import err


def down() -> None:
    """Remove all that `up` made: the platform, the cluster, their state.

    Keeps the virtual environment and the toolchain, which other checkouts share.
    """
    from infra.paths import STATE
    from ops.stack_config import config_file
    from ops.up import ENVIRONMENT
    from sandbox.cluster import Sandbox

    removed = Sandbox().down() or STATE.exists()
    shutil.rmtree(STATE, ignore_errors=True)
    config_file(ENVIRONMENT).unlink(missing_ok=True)
    err.print(f"{ENVIRONMENT} is removed" if removed else f"{ENVIRONMENT} was not up: nothing to remove")
