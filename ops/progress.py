"""Progress of long work on the console: one live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ops.console import err

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rich.console import Console


class ConsoleProgress:
    """Shows notes and steps on stderr.

    Args:
        verb: what the steps do, as the line begins: "building".
        console: where to show it.
        interval: seconds between lines where there is no terminal.
    """

    def __init__(self, verb: str, console: Console = err, interval: float = 30) -> None:
        self._verb = verb
        self._console = console
        self._interval = interval

    def note(self, message: str) -> None:
        """Show one line."""
        self._console.print(f"  note: {message}", markup=False)

    @contextmanager
    def step(self, title: str, index: int, total: int) -> Generator[Callable[[str], None]]:
        """Show a step while it lasts, and how long it took; yields what tells how far it is."""
        label = f"[{index}/{total}] {self._verb} {title}"
        started = time.monotonic()
        with self._live(label) if self._console.is_terminal else self._plain(label, started) as tell:
            yield tell
        self._console.print(f"  {label}: done in {_duration(time.monotonic() - started)}", markup=False)

    @contextmanager
    def _live(self, label: str) -> Generator[Callable[[str], None]]:
        columns = (TextColumn(" "), SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=self._console, transient=True) as line:
            task = line.add_task(escape(label), total=None)
            yield lambda detail: line.update(task, description=escape(f"{label}: {detail}"))

    @contextmanager
    def _plain(self, label: str, started: float) -> Generator[Callable[[str], None]]:
        self._console.print(f"  {label} ...", markup=False)
        ended = threading.Event()
        details = [""]

        def remind() -> None:
            while not ended.wait(self._interval):
                elapsed = _duration(time.monotonic() - started)
                self._console.print(f"  {label} ... {elapsed} so far{details[-1]}", markup=False)

        thread = threading.Thread(target=remind, daemon=True)
        thread.start()
        try:
            yield lambda detail: details.append(f", {detail}")
        finally:
            ended.set()
            thread.join()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
