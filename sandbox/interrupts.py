"""Ctrl-C that arrives at a safe moment: never between starting a process and writing down its pid."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def deferred() -> Generator[Callable[[], None]]:
    """Hold back signals that ask us to end; yield a check that raises KeyboardInterrupt once one has come.

    Outside the main thread, where Python delivers no signals, the check never raises.
    """
    arrived = threading.Event()

    def note(_signal: int, _frame: FrameType | None) -> None:
        arrived.set()

    def check() -> None:
        if arrived.is_set():
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield check
        return
    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
