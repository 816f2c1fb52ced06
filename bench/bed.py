"""A test bed: a cluster that nothing was applied to yet, an engine state of its own, and a stopwatch."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from filelock import FileLock, Timeout

from infra.errors import FlotillaError
from ops.env import environment
from ops.stand_ins import stand_in
from sandbox.cluster import Sandbox

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from infra.settings import Settings
    from sandbox.nodes import Node
    from sandbox.tools import Toolchain

TIMEOUT_SECONDS = 600
LOG = "commands.log"
BED = "bed-"


@dataclass(frozen=True, kw_only=True)
class Bed:
    """Where one side is measured.

    Args:
        folder: for projects, manifests and all state.
        context: kubeconfig context of the cluster's administrator.
        variables: the whole environment of every command.
        log: file that gets each command and its output.
    """

    folder: Path
    context: str
    variables: Mapping[str, str]
    log: Path

    def run(self, *command: str, folder: Path | None = None, allowed: tuple[int, ...] = (0,)) -> float:
        """Run a command and return the seconds it took.

        Args:
            command: program and arguments.
            folder: where to run it; the bed's own folder when left out.
            allowed: exit codes that are no failure.

        Raises:
            FlotillaError: it failed or never ended.
        """
        title = shlex.join(command[:2])
        with self.log.open("a", encoding="utf-8") as log:
            print(f"$ {shlex.join(command)}", file=log, flush=True)
            started = time.perf_counter()
            process = subprocess.Popen(
                command,
                cwd=folder or self.folder,
                env=dict(self.variables),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            try:
                code = process.wait(TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired as error:
                raise self._failure(f"did not end within {TIMEOUT_SECONDS} s", title) from error
            finally:
                _end(process)
            seconds = time.perf_counter() - started
            print(f"# {seconds:.2f} s", file=log)
        if code not in allowed:
            raise self._failure(f"failed with exit code {code}", title)
        return seconds

    def _failure(self, what: str, title: str) -> FlotillaError:
        return FlotillaError(what, where=title, remedy=f"Its output is the end of {self.log}")


@contextmanager
def fresh(
    toolchain: Toolchain, nodes: Sequence[Node], folder: Path, *, settings: Settings | None = None
) -> Generator[Bed]:
    """Yield a bed on a cluster that has just been started; the cluster is ended in any case.

    Args:
        toolchain: the programs.
        nodes: the machines of the cluster.
        folder: keeps the log of all commands and, after a failure, all state but no process.
        settings: an environment, whose kinds that nobody brings here are served before anything is measured.
    """
    state = Path(tempfile.mkdtemp(prefix=BED, dir=folder))
    sandbox = _sandbox(state, toolchain)
    failed = True
    try:
        sandbox.up(nodes)
        if settings:
            stand_in(sandbox, settings)
        ambient = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")}
        yield Bed(
            folder=state,
            context=sandbox.context,
            variables=ambient | environment(toolchain, state),
            log=folder / LOG,
        )
        failed = False
    finally:
        sandbox.down(keep_data=failed)
        if not failed:
            shutil.rmtree(state)


@contextmanager
def prepared(folder: Path, toolchain: Toolchain) -> Generator[None]:
    """Keep `folder` to one benchmark at a time, without what earlier ones left: logs, state, clusters.

    Raises:
        FlotillaError: another benchmark is running.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(f"{folder}.lock", timeout=0):
            for state in folder.glob(f"{BED}*"):
                _sandbox(state, toolchain).down()
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            yield
    except Timeout:
        raise FlotillaError("another benchmark is running", where=str(folder), remedy="Wait for its end") from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command that still runs, with all it started: the engine's plugins are in groups of their own."""
    if process.poll() is not None:
        return
    for member in (*psutil.Process(process.pid).children(recursive=True), process):
        with suppress(psutil.NoSuchProcess):
            member.kill()
    process.wait()


def _sandbox(state: Path, toolchain: Toolchain) -> Sandbox:
    return Sandbox("bench", state / "sandbox", tools=toolchain.bin)
