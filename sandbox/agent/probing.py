"""Asks containers how they are: HTTP, TCP and commands, for probes and lifecycle hooks alike."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

from infra.errors import FlotillaError
from sandbox.agent.probes import named_port
from sandbox.agent.relay import Stream, close

Json = dict[str, Any]
Connect = Callable[[int], Awaitable[Stream]]
"""Opens a connection to a port of the pod."""
Execute = Callable[[list[str], float], Awaitable[tuple[int, str]]]
"""Runs a command in the container within some seconds; returns exit code and output."""

_LONGEST_HEAD = 1 << 14
_OK = range(200, 400)


async def ask(
    handler: Json, container: Json, *, timeout_seconds: float, connect: Connect, execute: Execute
) -> str | None:
    """Carry out a probe's or hook's action; return None for success, else what was wrong.

    A gRPC probe only checks that its port accepts connections.
    """
    try:
        if command := handler.get("exec"):
            code, output = await execute(command.get("command", []), timeout_seconds)
            return None if code == 0 else output.strip() or f"command exited with {code}"
        async with asyncio.timeout(timeout_seconds):
            if request := handler.get("httpGet"):
                return await _http(request, container, connect)
            target = handler.get("tcpSocket") or handler.get("grpc")
            if target is not None:
                _, writer = await connect(named_port(container, target["port"]))
                await close(writer)
            elif pause := handler.get("sleep"):
                await asyncio.sleep(pause["seconds"])
    except TimeoutError:
        return f"no answer within {timeout_seconds:g} seconds"
    except (FlotillaError, OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        return str(error)
    return None


async def _http(request: Json, container: Json, connect: Connect) -> str | None:
    port = named_port(container, request["port"])
    reader, writer = await connect(port)
    try:
        if request.get("scheme") == "HTTPS":
            await writer.start_tls(_anyone(), server_hostname=request.get("host") or None)
        headers = {"Host": f"{request.get('host') or 'localhost'}:{port}", "User-Agent": "kube-probe/1.36"}
        headers |= {"Accept": "*/*", "Connection": "close"}
        headers |= {header["name"]: header["value"] for header in request.get("httpHeaders", [])}
        path = "/" + request.get("path", "/").removeprefix("/")
        lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        writer.write("\r\n".join(lines).encode())
        await writer.drain()
        status = (await reader.readuntil(b"\n"))[:_LONGEST_HEAD].split()
        code = int(status[1]) if len(status) > 1 else 0
        return None if code in _OK else f"HTTP probe failed with statuscode: {code}"
    finally:
        await close(writer)


def _anyone() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
