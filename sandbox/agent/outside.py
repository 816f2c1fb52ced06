"""Keeps the agent's knowledge of outside hosts in line with the sandbox's file, which may change at any time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from sandbox.outside import OutsideHosts

_LOOK_SECONDS = 0.5


class OutsideView:
    """The outside hosts as they are at this moment.

    Args:
        file: where the sandbox writes them.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: tuple[int, int] | None = None
        self._hosts = OutsideHosts()

    @property
    def hosts(self) -> OutsideHosts:
        """What leads where now."""
        try:
            facts = self._file.stat()
        except FileNotFoundError:
            stamp = None
        else:
            stamp = (facts.st_ino, facts.st_mtime_ns)
        if stamp != self._seen:
            self._seen, self._hosts = stamp, OutsideHosts.read(self._file)
        return self._hosts

    async def follow(self, changed: Callable[[], None]) -> None:
        """Call back whenever they change, until cancelled."""
        before = self.hosts
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if self.hosts != before:
                before = self.hosts
                changed()
