"""The processes a host has started, so that it can end every one of them."""

from __future__ import annotations

import subprocess
import threading
from contextlib import contextmanager
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from pathlib import Path

Stream = Literal["stdout", "stderr"]
_GRACE_SECONDS = 2
_CHUNK = 1 << 16


class ShuttingDownError(Exception):
    """The host is ending and starts nothing any more."""


class Children:
    """Starts processes and ends them."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def start(
        self, command: Sequence[str | Path], folder: str, environment: Mapping[str, str], *, piped: bool
    ) -> Generator[subprocess.Popen[bytes]]:
        """Run `command` for as long as the block lasts; its output is piped or goes the host's way."""
        pipe = subprocess.PIPE if piped else None
        with self._lock:
            if self._closed:
                raise ShuttingDownError
            process = subprocess.Popen(
                command,
                cwd=folder or None,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
            )
            self._running.add(process)
        try:
            with process:
                try:
                    yield process
                finally:
                    end(process)
        finally:
            with self._lock:
                self._running.discard(process)

    def end_all(self, *, closing: bool = False) -> None:
        """End every process; with `closing`, start no more."""
        with self._lock:
            self._closed = self._closed or closing
            running = tuple(self._running)
        for process in running:
            process.terminate()
        for process in running:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end, and make it if it does not; does nothing to one that has ended."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout=_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def output_of(process: subprocess.Popen[bytes]) -> Iterator[tuple[Stream, bytes]]:
    """Yield what a piped process writes, as it comes, until both streams end."""
    received: SimpleQueue[tuple[Stream, bytes]] = SimpleQueue()

    def forward(name: Stream, pipe: IO[bytes]) -> None:
        while chunk := pipe.read1(_CHUNK):  # pyright: ignore[reportAttributeAccessIssue]
            received.put((name, chunk))
        received.put((name, b""))

    for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
        threading.Thread(target=forward, args=(name, pipe), daemon=True).start()
    open_streams = 2
    while open_streams:
        name, chunk = received.get()
        if chunk:
            yield name, chunk
        else:
            open_streams -= 1
