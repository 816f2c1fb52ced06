"""One pod's way out: listens in the pod's outer network for everything its containers connect to."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from sandbox.agent.egress import Egress, UnreachableError
from sandbox.agent.relay import relay

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.agent.namespace import PodNamespace

_log = logging.getLogger(__name__)


class Listeners:
    """One listening socket for each TCP port known in the cluster, whichever address is meant.

    The address a container connected to is the connection's own local address here, so one socket serves
    every Service with that port.
    """

    def __init__(self, namespace: PodNamespace, egress: Egress, name: str) -> None:
        self._namespace = namespace
        self._egress = egress
        self._name = name
        self._servers: dict[int, asyncio.Server] = {}
        self._lock = asyncio.Lock()

    async def update(self, ports: Iterable[int]) -> None:
        """Listen on exactly these ports."""
        async with self._lock:
            wanted = set(ports)
            for port in set(self._servers) - wanted:
                self._servers.pop(port).close()
            for port in wanted - set(self._servers):
                socket = await self._namespace.socket()
                socket.bind(("0.0.0.0", port))  # noqa: S104 - every address of the pod's own network
                self._servers[port] = await asyncio.start_server(self._serve, sock=socket)

    def close(self) -> None:
        """Stop listening."""
        for server in self._servers.values():
            server.close()
        self._servers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = writer.get_extra_info("sockname")
        try:
            other = await self._egress.connect(host, port)
        except UnreachableError as error:
            _log.warning("%s: connection to %s:%d refused: %s", self._name, host, port, error)
            writer.transport.abort()
            return
        await relay((reader, writer), other)
