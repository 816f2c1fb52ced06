"""The local ports of a sandbox: chosen free at the first start, kept for all later ones."""

from __future__ import annotations

import json
import secrets
import socket
import time
from typing import TYPE_CHECKING

import psutil

from infra.errors import FlotillaError
from sandbox.files import write_private

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

_LOWEST, _HIGHEST = 20000, 29999
"""Below the range systems hand out for outgoing connections, so that none of those is in the way later."""

_PATIENCE_SECONDS = 2.0


def is_free(port: int) -> bool:
    """Return whether a server could listen on this port of the loopback address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _becomes_free(port: int) -> bool:
    """Return whether a port is free, or will be in a moment: a killed process keeps its ports a little longer."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not is_free(port):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def owner(port: int) -> str | None:
    """Return who listens on a local port, as `name (pid 123)`, if the system lets us see it."""
    try:
        connections = psutil.net_connections(kind="tcp")
        for connection in connections:
            if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})" if connection.pid else None
    except psutil.Error:
        return None
    return None


def remembered(file: Path) -> dict[str, int]:
    """Return the ports written at the first start; none when there was no start or the file is damaged."""
    try:
        content: object = json.loads(file.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {str(name): port for name, port in content.items() if isinstance(port, int)}


def allocate(file: Path, names: Sequence[str], in_use_by_us: Collection[str] = ()) -> dict[str, int]:
    """Return a port for each name: the remembered one, or a free one that is remembered from now on.

    Args:
        file: where the ports are remembered.
        names: what needs a port.
        in_use_by_us: names whose server is running already, so that its port is rightly taken.

    Raises:
        FlotillaError: somebody else listens on a remembered port.

    """
    ports = {name: port for name, port in remembered(file).items() if name in names}
    for name, port in ports.items():
        if name not in in_use_by_us and not _becomes_free(port):
            holder = owner(port)
            raise FlotillaError(
                f"port {port} of {name} is in use" + (f" by {holder}" if holder else ""),
                where=f"127.0.0.1:{port}",
                remedy="End that program, or choose new ports with `flotilla sandbox up --new-ports`",
            )
    for name in names:
        while name not in ports:
            candidate = _LOWEST + secrets.randbelow(_HIGHEST - _LOWEST + 1)
            if candidate not in ports.values() and is_free(candidate):
                ports[name] = candidate
    write_private(file, json.dumps(ports, indent=2) + "\n")
    return ports
