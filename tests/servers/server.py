"""What all servers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers.process import HOST

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from tests.servers.process import ServerProcess


class Server(ABC):
    """A server in a folder of its own. As a context manager it starts and stops.

    Args:
        folder: a folder that nothing else uses; made when missing.
    """

    host = HOST

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    @abstractmethod
    def log(self) -> Path:
        """Its log."""

    @property
    @abstractmethod
    def running(self) -> bool:
        """Whether it runs."""

    @abstractmethod
    def start(self) -> None:
        """Start it; return once it answers. After `stop` or `kill` it goes on with the data it had."""

    @abstractmethod
    def stop(self) -> None:
        """Ask it to end, and wait until it has."""

    @abstractmethod
    def kill(self) -> None:
        """Kill it as a crash would."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class SingleServer(Server):
    """A server that is one process, which its constructor sets."""

    _process: ServerProcess
    log_name: str

    @property
    def log(self) -> Path:
        """Its log."""
        return self.folder / self.log_name

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._process.running

    @property
    def pid(self) -> int:
        """Its process id while it runs."""
        return self._process.pid

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        self._process.stop()

    def kill(self) -> None:
        """Kill it as a crash would."""
        self._process.kill()
