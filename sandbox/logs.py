"""Where the sandbox's processes and real pods write, and how to read along."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from infra.errors import FlotillaError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sandbox.layout import Layout

_POLL_SECONDS = 0.2


def available(layout: Layout) -> list[str]:
    """Return everything that has a log: process names, and pods as `namespace/pod`."""
    processes = sorted(path.stem for path in layout.logs.glob("*.log"))
    pods = sorted(path.name.replace("_", "/", 1) for path in layout.pods.glob("*_*") if list(path.glob("*.log")))
    return [*processes, *pods]


def find(layout: Layout, target: str, container: str | None = None) -> Path:
    """Return the log file of a control plane process, or of a pod's container.

    Args:
        layout: the sandbox.
        target: a process name, or `namespace/pod`.
        container: which container; needed when the pod has several.

    Raises:
        FlotillaError: there is no such log.

    """
    namespace, slash, pod = target.partition("/")
    if not slash:
        return _process_log(layout, target)
    folder = layout.pods / f"{namespace}_{pod}"
    containers = sorted(path.stem for path in folder.glob("*.log"))
    if not containers:
        raise FlotillaError(
            "no log: the pod does not exist, has not started, or is simulated",
            where=target,
            remedy=_choices(layout),
        )
    if container is None and len(containers) > 1:
        raise FlotillaError(
            f"several containers: {', '.join(containers)}", where=target, remedy="Choose one with --container"
        )
    chosen = container or containers[0]
    if chosen not in containers:
        raise FlotillaError(f"no container {chosen}", where=target, remedy=f"It has {', '.join(containers)}")
    return folder / f"{chosen}.log"


def last_lines(log: Path, count: int | None) -> Iterator[str]:
    """Yield the last lines of a log, or all of them."""
    with log.open(errors="replace") as file:
        yield from file if count is None else deque(file, maxlen=count)


def follow(log: Path) -> Iterator[str]:
    """Yield what is appended to a log from now on, for ever; also after the log was begun anew."""
    position = log.stat().st_size
    while True:
        size = log.stat().st_size if log.exists() else 0
        if size < position:
            position = 0
        if size > position:
            with log.open("rb") as file:
                file.seek(position)
                text = file.read()
            position += len(text)
            yield text.decode(errors="replace")
        time.sleep(_POLL_SECONDS)


def _process_log(layout: Layout, name: str) -> Path:
    log = layout.logs / f"{name}.log"
    if "_" in name or not log.is_file():
        raise FlotillaError("nothing of this name has a log", where=name, remedy=_choices(layout))
    return log


def _choices(layout: Layout) -> str:
    names = available(layout)
    return f"Choose one of {', '.join(names)}" if names else "Start the sandbox with `flotilla sandbox up`"
