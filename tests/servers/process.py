"""Server processes: started with a keeper, waited for, ended by pid."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.ports import is_free
from tests.servers.install import clean_environment

HOST = "127.0.0.1"

_KEEPER = Path(__file__).with_name("keeper.py")
_LOWEST, _HIGHEST = 30000, 32767
"""Apart from the sandbox's ports, and below the range systems hand out for outgoing connections."""

_START_SECONDS = 120.0
_SYSTEM_SECONDS = 10.0
_TAIL_LINES = 12
_taken: set[int] = set()


@dataclass(frozen=True)
class Login:
    """A user of a server; the password is kept out of what tests print."""

    user: str
    password: str = field(repr=False)


def new_password() -> str:
    """Return a random password without characters that any server's syntax gives a meaning."""
    return f"Pw1{secrets.token_hex(12)}"


def free_port() -> int:
    """Return a loopback port that nothing listens on and that this run has not handed out before."""
    while True:
        port = _LOWEST + secrets.randbelow(_HIGHEST - _LOWEST + 1)
        if port not in _taken and is_free(port):
            _taken.add(port)
            return port


def listens(port: int) -> bool:
    """Return whether something accepts connections on a loopback port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((HOST, port)) == 0


class ServerError(AssertionError):
    """A server did not do as it was told; the message quotes the end of its log."""


def wait_until(condition: Callable[[], bool], failure: str, seconds: float) -> None:
    """Wait until a condition holds.

    Raises:
        ServerError: it does not in time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise ServerError(failure)
        time.sleep(0.1)


class ServerProcess:
    """One process of a server. It ends with this program, whichever way that ends.

    Args:
        command: program and arguments.
        log: file that takes its output.
        folder: its working directory.
        environment: its whole environment.
        grace_seconds: how long it has to end by itself.
        hide_root: whether it refuses to run as root, so that root must look like somebody else to it.
        stop_signal: what asks it to end.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        grace_seconds: float = 10.0,
        hide_root: bool = False,
        stop_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        self.log = log
        self._command = list(command)
        self._folder = folder
        self._environment = dict(environment or clean_environment())
        self._grace_seconds = grace_seconds
        self._hide_root = hide_root and os.geteuid() == 0
        self._stop_signal = stop_signal
        self._keeper: subprocess.Popen[bytes] | None = None
        self._pid = 0

    @property
    def running(self) -> bool:
        """Whether the process runs."""
        return self._keeper is not None and self._keeper.poll() is None

    @property
    def pid(self) -> int:
        """Its process id while it runs."""
        return self._pid

    def start(self) -> None:
        """Start the process; it must not run already."""
        if self.running:
            raise ServerError(f"{self._command[0]} runs already")
        receive, send = os.pipe()
        arguments = [str(send), str(self._grace_seconds), "yes" if self._hide_root else "no", *self._command]
        try:
            with self.log.open("ab") as output:
                self._keeper = subprocess.Popen(
                    [sys.executable, "-S", str(_KEEPER), *arguments],
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=output,
                    env=self._environment,
                    cwd=self._folder,
                    pass_fds=(send,),
                    start_new_session=True,
                )
        finally:
            os.close(send)
        with os.fdopen(receive, "rb") as reader:
            self._pid = int(reader.read() or b"0")

    def stop(self) -> None:
        """Ask the process to end, and see to it that it does."""
        if self.running:
            self._signal(self._stop_signal)
            self._wait(self._grace_seconds)
        self._collect()

    def kill(self) -> None:
        """Kill the process as a crash would."""
        if self.running:
            self._signal(signal.SIGKILL)
            self._wait(_SYSTEM_SECONDS)
        self._collect()

    def wait_ready(self, ready: Callable[[], bool], seconds: float = _START_SECONDS) -> None:
        """Wait until the process does its work.

        Raises:
            ServerError: it ended, or is not ready in time.
        """
        deadline = time.monotonic() + seconds
        while not ready():
            if not self.running:
                raise ServerError(f"the server ended while it started:\n{self.tail()}")
            if time.monotonic() > deadline:
                raise ServerError(f"the server is not ready after {seconds:.0f} seconds:\n{self.tail()}")
            time.sleep(0.1)

    def run_to_end(self, seconds: float) -> None:
        """Wait until the process has done its work and ended.

        Raises:
            ServerError: it failed, or takes longer.
        """
        self._wait(seconds)
        code = self._keeper.poll() if self._keeper else None
        self._collect()
        if code != 0:
            raise ServerError(f"{self._command[0]} failed:\n{self.tail()}")

    def tail(self) -> str:
        """Return the end of the log."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join(lines[-_TAIL_LINES:])

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, number)

    def _wait(self, seconds: float) -> None:
        if self._keeper:
            with suppress(subprocess.TimeoutExpired):
                self._keeper.wait(seconds)

    def _collect(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        if keeper.stdin:
            keeper.stdin.close()
        keeper.wait(self._grace_seconds + _SYSTEM_SECONDS)


def run_tool(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    errors: Path | None = None,
) -> str:
    """Run a server's tool to its end; return what it printed.

    Args:
        command: program and arguments.
        environment: its whole environment.
        stdin: what it reads.
        errors: file that takes its messages, where they are not to be among what it printed.

    Raises:
        ServerError: it failed.
    """
    with (errors or Path(os.devnull)).open("wb") as messages:
        done = subprocess.run(
            list(command),
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=messages if errors else subprocess.STDOUT,
            env=dict(environment or clean_environment()),
            timeout=_START_SECONDS,
            check=False,
        )
    text = done.stdout.decode(errors="replace")
    if done.returncode:
        said = errors.read_text(errors="replace") if errors else text
        raise ServerError(f"{command[0]} failed with {done.returncode}:\n{said[-2000:]}")
    return text
