"""Detached processes with a memory: started, recognised after a restart of ours, and ended for certain."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, ClassVar

import psutil

from infra.errors import FlotillaError
from sandbox.files import write_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

MARKER = "FLOTILLA_SANDBOX"
"""Environment variable that every process of a sandbox carries: the sandbox's state folder."""

_LOG_LIMIT_BYTES = 8 * 2**20
_CLOCK_TOLERANCE_SECONDS = 2.0
_SYSTEM_SECONDS = 5.0
"""How long the operating system may take for what it does at once as a rule."""
_SERIOUS = re.compile(r"^[FE]\d{4} |\bfatal\b|\bpanic:|\berror\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Command:
    """A process to run.

    Args:
        name: what people call it; its log is `<name>.log`.
        arguments: program and arguments.
        port: the local port it serves, if any.
        ready: tells whether it does its work yet; must return quickly and not raise.
        inputs: files it reads at start only; when one changes, the process must be restarted.
        environment: its whole environment.

    """

    name: str
    arguments: tuple[str, ...]
    port: int | None
    ready: Callable[[], bool]
    inputs: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def fingerprint(self) -> str:
        """Return a digest that changes when a running process no longer is what is wanted."""
        digest = hashlib.sha256("\0".join(self.arguments).encode())
        for path in self.inputs:
            digest.update(path.read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class Record:
    """What identifies a started process, even after its pid was given to another one."""

    name: str
    pid: int
    created: float
    port: int | None
    fingerprint: str

    @property
    def uptime_seconds(self) -> float:
        """How long it has been running."""
        return max(0.0, time.time() - self.created)


@dataclass(frozen=True)
class ProcessTable:
    """The processes of one sandbox: their records and logs.

    Args:
        owner: the sandbox's state folder, by which its processes are marked.
        records: folder for one record per process.
        logs: folder for one log per process.

    """

    owner: Path
    records: Path
    logs: Path

    _children: ClassVar[dict[int, subprocess.Popen[bytes]]] = {}
    """Processes started by this very program; it must collect their exit codes."""

    def start(self, command: Command) -> Record:
        """Start a process in a session of its own and write down what identifies it.

        Raises:
            FlotillaError: the program cannot be run.

        """
        log = self.log(command.name)
        _rotate(log)
        with log.open("ab") as output:
            try:
                child = subprocess.Popen(
                    command.arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**command.environment, MARKER: str(self.owner)},
                    cwd=self.owner,
                    start_new_session=True,
                )
            except (FileNotFoundError, PermissionError) as error:
                raise FlotillaError(
                    f"{command.name} cannot be run: {error.strerror}",
                    where=command.arguments[0],
                    remedy="Build the tools again with `flotilla toolchain build`",
                ) from error
        self._children[child.pid] = child
        self._wait_marked(child)
        record = Record(
            name=command.name,
            pid=child.pid,
            created=_created(child.pid),
            port=command.port,
            fingerprint=command.fingerprint(),
        )
        write_private(self._record_file(command.name), json.dumps(asdict(record)) + "\n")
        return record

    def running(self, name: str) -> Record | None:
        """Return the record of a process that still runs; None when it ended or another one has its pid."""
        try:
            record = Record(**json.loads(self._record_file(name).read_text()))
        except (FileNotFoundError, json.JSONDecodeError, TypeError):
            return None
        return record if self._process(record) else None

    def names(self) -> list[str]:
        """Return the names of all processes ever started and not removed since."""
        return sorted(path.stem for path in self.records.glob("*.json"))

    def wait_ready(self, commands: Sequence[Command], *, timeout_seconds: float, check: Callable[[], None]) -> None:
        """Wait until each process does its work.

        Raises:
            FlotillaError: one ended or is not ready in time; the message quotes its last words.

        """
        waiting = list(commands)
        deadline = time.monotonic() + timeout_seconds
        while waiting:
            check()
            for command in waiting:
                if self.running(command.name) is None:
                    raise self._failure(command.name, f"{command.name} ended while starting")
            waiting = [command for command in waiting if not command.ready()]
            if waiting and time.monotonic() > deadline:
                name = waiting[0].name
                raise self._failure(name, f"{name} is not ready after {timeout_seconds:.0f} seconds")
            if waiting:
                time.sleep(0.05)

    def stop(self, names: Iterable[str], *, grace_seconds: float = 5.0) -> None:
        """End processes and everything they started: politely first, then for certain."""
        doomed: list[psutil.Process] = []
        for name in names:
            record = self.running(name)
            process = self._process(record) if record else None
            if process:
                doomed += [process, *_descendants(process)]
                _signal(process.terminate)
            self._record_file(name).unlink(missing_ok=True)
        alive = self._wait_ended(doomed, grace_seconds)
        for process in alive:
            _signal(process.kill)
        self._wait_ended(alive, _SYSTEM_SECONDS)

    def stop_strays(self) -> None:
        """End processes that carry this sandbox's mark but have no record; an aborted start leaves such."""
        strays = [
            process for process in psutil.process_iter() if self._is_marked(process) and process.pid != os.getpid()
        ]
        for process in strays:
            _signal(process.kill)
        self._wait_ended(strays, _SYSTEM_SECONDS)

    def log(self, name: str) -> Path:
        """Return the path of a process's log."""
        return self.logs / f"{name}.log"

    def _record_file(self, name: str) -> Path:
        return self.records / f"{name}.json"

    def _process(self, record: Record) -> psutil.Process | None:
        self._collect()
        try:
            process = psutil.Process(record.pid)
            same = abs(process.create_time() - record.created) < _CLOCK_TOLERANCE_SECONDS
            return process if same and _lives(process) and self._is_marked(process) else None
        except psutil.Error:
            return None

    def _wait_marked(self, child: subprocess.Popen[bytes]) -> None:
        """Wait the moment that the system takes to show a new program's environment."""
        deadline = time.monotonic() + _SYSTEM_SECONDS
        while child.poll() is None and time.monotonic() < deadline:
            if self._is_marked(psutil.Process(child.pid)):
                return
            time.sleep(0.001)

    def _is_marked(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get(MARKER) == str(self.owner)
        except (psutil.Error, OSError):
            return False

    def _wait_ended(self, alive: list[psutil.Process], timeout_seconds: float) -> list[psutil.Process]:
        deadline = time.monotonic() + timeout_seconds
        while alive := [process for process in alive if _lives(process)]:
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        self._collect()
        return alive

    def _collect(self) -> None:
        for pid, child in list(self._children.items()):
            if child.poll() is not None:
                del self._children[pid]

    def _failure(self, name: str, what: str) -> FlotillaError:
        words = last_words(self.log(name))
        return FlotillaError(
            what + (f": {words}" if words else ""),
            where=name,
            remedy=f"Its log is {self.log(name)}; `flotilla sandbox down` forgets all state",
        )


def last_words(log: Path) -> str:
    """Return the last line of a log that says what went wrong, else its last line."""
    try:
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines()[-200:] if line.strip()]
    except FileNotFoundError:
        return ""
    serious = [line for line in lines if _SERIOUS.search(line)]
    return (serious or lines or [""])[-1]


def _created(pid: int) -> float:
    try:
        return psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return time.time()


def _lives(process: psutil.Process) -> bool:
    """Return whether a process does anything still; a dead one may be listed until its parent takes note."""
    try:
        return process.is_running() and process.status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.Error:
        return False


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _signal(send: Callable[[], None]) -> None:
    try:
        send()
    except psutil.NoSuchProcess:
        return


def _rotate(log: Path) -> None:
    if log.is_file() and log.stat().st_size > _LOG_LIMIT_BYTES:
        log.replace(log.with_suffix(".log.1"))
