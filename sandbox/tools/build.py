"""Building one Go module into the cache, whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from sandbox.interrupts import deferred
from sandbox.tools import failures, store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sandbox.tools.catalog import Module
    from sandbox.tools.golang import Go
    from sandbox.tools.progress import Progress

_FLAGS = ("-trimpath", "-buildvcs=false")
_GRACE_SECONDS = 5
_CHECK_SECONDS = 0.2


def folder_of(module: Module) -> Path:
    """Return where the tools of `module` lie once built.

    The key covers its go.mod, go.sum and sources, the flags and the platform, but not the Go version: what
    any fitting Go has built stays good when Go is upgraded or removed.
    """
    sources = [path.read_bytes() for path in sorted(module.folder.iterdir()) if path.is_file()]
    key = store.key_of([*sources, *_FLAGS, module.linker_flags, *(tool.package for tool in module.tools)])
    return store.root() / f"{module.name}-{key}"


def is_built(module: Module) -> bool:
    """Tell whether the tools of `module` are in the cache, undamaged."""
    return damage(module) is None


def damage(module: Module, *, thorough: bool = False) -> str | None:
    """Return what is wrong with the cached tools of `module`, or None."""
    return store.damage(folder_of(module), [tool.name for tool in module.tools], thorough=thorough)


def ensure_built(module: Module, go: Callable[[], Go], progress: Progress, index: int, total: int) -> Path:
    """Build `module` unless the cache has it undamaged; return its folder.

    Raises:
        FlotillaError: the build failed; the cache is as it was.
    """
    folder = folder_of(module)
    with store.locked(module.name, progress):
        fault = damage(module)
        if fault is None:
            return folder
        if folder.exists():
            progress.note(f"{folder} is damaged ({fault}): building {module.name} again")
        compiler = go()
        with progress.step(f"{module.name} {module.version}", index, total), store.filling(folder) as aside:
            _compile(module, compiler, aside)
            facts = {"module": module.name, "version": str(module.version), "go": str(compiler.version)}
            store.describe(aside, facts)
    return folder


def _compile(module: Module, go: Go, folder: Path) -> None:
    log = store.root() / "logs" / f"{module.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    single = module.tools[0].name if len(module.tools) == 1 else ""
    command = [
        *(str(go.path), "build", *_FLAGS, f"-ldflags={module.linker_flags}"),
        *("-o", f"{folder}{os.sep}{single}", *(tool.package for tool in module.tools)),
    ]
    with log.open("wb") as output:
        output.write(f"# {' '.join(command)}\n".encode())
        output.flush()
        code = _run(command, module.folder, go.environment(), output.fileno())
    if code != 0:
        raise failures.build_failed(f"{module.name} {module.version}", log)


def _run(command: list[str], folder: Path, environment: dict[str, str], output: int) -> int:
    """Run the compiler in a process group of its own, which ends when we are asked to end."""
    with (
        deferred() as check,
        subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
        ) as process,
    ):
        try:
            while process.poll() is None:
                check()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=_CHECK_SECONDS)
            check()
        except BaseException:
            _end(process)
            raise
        return process.returncode


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
