"""The CONNECT proxy: what the API server gets for Services, nodes, simulated pods and nonsense."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.agent.egress import Egress
from sandbox.agent.routing import Routes
from tests.unit.agent_objects import run

Address = tuple[str, int]


def answer(tmp_path: Path, request: bytes, table: Callable[[Address], Routes] | None = None, node: str = "") -> bytes:
    """Return what a client of the proxy reads, with a server behind it that says `hello`."""

    async def hello(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    async def scenario() -> bytes:
        behind = await asyncio.start_server(hello, "127.0.0.1", 0)
        kubelet = await asyncio.start_unix_server(hello, tmp_path / "kubelet.sock")
        address: Address = behind.sockets[0].getsockname()
        egress = Egress(
            routes=lambda: table(address) if table else Routes(),
            pod=lambda _: None,
            is_node=lambda host: host == node,
            outside=lambda host, port: address[1] if (host, port) == ("10.201.0.1", 3306) else None,
            is_inside=lambda host: host.startswith("10."),
            api=("10.96.0.1", address),
            kubelet_socket=tmp_path / "kubelet.sock",
        )
        server = await egress.serve(tmp_path / "egress.sock")
        try:
            reader, writer = await asyncio.open_unix_connection(tmp_path / "egress.sock")
            writer.write(request)
            content = await asyncio.wait_for(reader.read(), 5)
            writer.close()
            return content
        finally:
            for each in (server, behind, kubelet):
                each.close()

    return run(scenario())


def connect(place: str) -> bytes:
    return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()


def test_api_servers_own_service_leads_to_the_api_server(tmp_path: Path) -> None:
    content = answer(tmp_path, connect("10.96.0.1:443"))
    assert content.startswith(b"HTTP/1.1 200 ")
    assert content.endswith(b"\r\n\r\nhello")


def test_service_leads_to_its_endpoint(tmp_path: Path) -> None:
    def table(address: Address) -> Routes:
        return Routes({("10.96.0.9", 443): [address]}, {("10.96.0.9", 443): "demo/web"})

    assert answer(tmp_path, connect("10.96.0.9:443"), table).endswith(b"hello")


def test_service_without_endpoint_is_unavailable_and_says_why(tmp_path: Path) -> None:
    def table(_: Address) -> Routes:
        return Routes({("10.96.0.9", 443): []}, {("10.96.0.9", 443): "demo/web"})

    content = answer(tmp_path, connect("10.96.0.9:443"), table)
    assert content.startswith(b"HTTP/1.1 503 ")
    assert b"Service demo/web has no ready endpoint for port 443" in content


def test_simulated_pod_is_unavailable_and_says_so(tmp_path: Path) -> None:
    assert b"10.160.0.5:80 is simulated" in answer(tmp_path, connect("10.160.0.5:80"))


def test_kubelet_port_of_a_node_leads_to_the_agents_own_server(tmp_path: Path) -> None:
    assert answer(tmp_path, connect("10.128.0.2:10250"), node="10.128.0.2").endswith(b"hello")
    assert b"is simulated" in answer(tmp_path, connect("10.128.0.2:80"), node="10.128.0.2")


def test_host_of_the_outside_leads_to_its_local_port_and_nowhere_else(tmp_path: Path) -> None:
    assert answer(tmp_path, connect("10.201.0.1:3306")).endswith(b"hello")
    assert answer(tmp_path, connect("10.201.0.1:3307")).startswith(b"HTTP/1.1 503 ")


@pytest.mark.parametrize("request_line", [b"GET / HTTP/1.1\r\n\r\n", b"CONNECT nonsense\r\n\r\n"])
def test_anything_but_connect_is_refused(tmp_path: Path, request_line: bytes) -> None:
    assert answer(tmp_path, request_line).startswith(b"HTTP/1.1 405 ")


def test_server_that_does_not_listen_is_unavailable(tmp_path: Path) -> None:
    def table(_: Address) -> Routes:
        return Routes({("10.96.0.9", 80): [("127.0.0.1", 1)]}, {("10.96.0.9", 80): "demo/web"})

    assert answer(tmp_path, connect("10.96.0.9:80"), table).startswith(b"HTTP/1.1 503 ")
