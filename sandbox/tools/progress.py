"""How long work tells what it is doing, without knowing who listens."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Progress(Protocol):
    """Receives notes and steps; the console shows them, tests record them."""

    def note(self, message: str) -> None:
        """Take one line worth knowing."""
        ...

    def step(self, title: str, index: int, total: int) -> AbstractContextManager[object]:
        """Take a long step, number `index` of `total`, that lasts as long as the returned context."""
        ...


class Silent:
    """Progress that nobody watches."""

    def note(self, message: str) -> None:
        """Drop the message."""

    def step(self, title: str, index: int, total: int) -> AbstractContextManager[object]:  # noqa: ARG002
        """Run the step without showing it."""
        return nullcontext()
