"""Ending asyncio tasks for certain."""

from __future__ import annotations

import asyncio
from typing import Any


async def cancelled(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it has cleaned up; a failure of its own is raised here.

    Unlike awaiting the task and ignoring `CancelledError`, this never swallows the caller's own cancellation.
    """
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()):
        raise error
