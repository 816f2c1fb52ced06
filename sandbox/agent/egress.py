"""The way into the cluster: an HTTP CONNECT proxy for the API server, and the same routes for pods themselves."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from sandbox.agent.relay import Stream, close, relay

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.agent.namespace import PodNamespace
    from sandbox.agent.routing import Address, Routes

KUBELET_PORTS = frozenset({10250, 10247})
"""Ports at which a node's kubelet answers: the usual one, and the one kwok gives to nodes it makes itself."""

_CONNECT = re.compile(rb"CONNECT ([^\s:]+|\[[^\]]+\]):(\d+) HTTP/1\.[01]")
_CONNECT_SECONDS = 10.0
_REQUEST_SECONDS = 10.0


class UnreachableError(Exception):
    """An address leads nowhere; the message says why."""


class Egress:
    """Opens connections to cluster addresses: Services, pods that are processes, nodes' kubelets.

    Args:
        routes: returns the present routes.
        pod: returns the namespaces of the pod with an address, or None.
        is_node: tells whether an address is a node's.
        outside: returns the local port behind a host of the outside and a port, or None.
        is_inside: tells whether an address belongs to the cluster; all others are connected to directly.
        api: the `kubernetes` Service's address, and where the API server really listens.
        kubelet_socket: where the agent answers for all kubelets.
    """

    def __init__(
        self,
        *,
        routes: Callable[[], Routes],
        pod: Callable[[str], PodNamespace | None],
        is_node: Callable[[str], bool],
        outside: Callable[[str, int], int | None],
        is_inside: Callable[[str], bool],
        api: tuple[str, Address],
        kubelet_socket: Path,
    ) -> None:
        self._routes = routes
        self._pod = pod
        self._is_node = is_node
        self._outside = outside
        self._is_inside = is_inside
        self._api_service, self._api_address = api
        self._kubelet_socket = kubelet_socket

    async def connect(self, host: str, port: int) -> Stream:
        """Open a connection to a cluster address.

        Raises:
            UnreachableError: nothing listens there, or nothing real.
        """
        table = self._routes()
        service = table.names.get((host, port))
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                if host == self._api_service:
                    return await asyncio.open_connection(*self._api_address)
                target = table.resolve(host, port)
                if target is None:
                    raise UnreachableError(f"Service {service} has no ready endpoint for port {port}")
                return await self._open(*target)
        except (OSError, TimeoutError) as error:
            place = f"Service {service}" if service else f"{host}:{port}"
            raise UnreachableError(f"{place}: {error or 'no answer in time'}") from error

    async def _open(self, host: str, port: int) -> Stream:
        if namespace := self._pod(host):
            socket = await namespace.socket()
            try:
                await asyncio.get_running_loop().sock_connect(socket, (host, port))
            except BaseException:
                socket.close()
                raise
            return await asyncio.open_connection(sock=socket)
        if self._is_node(host) and port in KUBELET_PORTS:
            return await asyncio.open_unix_connection(self._kubelet_socket)
        if local := self._outside(host, port):
            return await asyncio.open_connection("127.0.0.1", local)
        if not self._is_inside(host):
            return await asyncio.open_connection(host, port)
        raise UnreachableError(f"{host}:{port} is simulated: no process listens there")

    async def serve(self, path: Path) -> asyncio.Server:
        """Serve HTTP CONNECT at a Unix socket."""
        path.unlink(missing_ok=True)
        server = await asyncio.start_unix_server(self._serve_one, path)
        path.chmod(0o600)
        return server

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            await close(writer)
            return
        match = _CONNECT.match(head)
        if not match:
            await _refuse(writer, "405 Method Not Allowed", "only CONNECT is understood here")
            return
        try:
            other = await self.connect(match.group(1).decode().strip("[]"), int(match.group(2)))
        except UnreachableError as error:
            await _refuse(writer, "503 Service Unavailable", str(error))
            return
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await relay((reader, writer), other)


async def _refuse(writer: asyncio.StreamWriter, status: str, reason: str) -> None:
    body = f"{reason}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await close(writer)
