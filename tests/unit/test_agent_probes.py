"""Probes: thresholds over time, and what an answer must look like."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox.agent.probes import ProbePlan, ProbeState, Verdict, named_port, plan
from sandbox.agent.probing import ask
from sandbox.agent.relay import Stream
from tests.unit.agent_objects import run

Json = dict[str, Any]
CONTAINER: Json = {"name": "main", "ports": [{"name": "http", "containerPort": 8080}]}


def verdict(answers: str, *, successes: int = 1, failures: int = 3) -> Verdict:
    state = ProbeState(plan=ProbePlan(successes=successes, failures=failures))
    for answer in answers:
        state = state.after(success=answer == "+")
    return state.verdict


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("", Verdict.UNKNOWN),
        ("--", Verdict.UNKNOWN),
        ("---", Verdict.FAILING),
        ("+", Verdict.PASSING),
        ("+--", Verdict.PASSING),
        ("+---", Verdict.FAILING),
        ("--+--", Verdict.PASSING),
        ("---+", Verdict.PASSING),
    ],
)
def test_only_answers_in_a_row_change_the_verdict(answers: str, expected: Verdict) -> None:
    assert verdict(answers) is expected


def test_success_threshold_counts_answers_in_a_row() -> None:
    assert verdict("---++", successes=3) is Verdict.FAILING
    assert verdict("---+++", successes=3) is Verdict.PASSING


def test_probe_without_numbers_has_kubernetes_defaults() -> None:
    assert plan({"httpGet": {"port": 1}}) == ProbePlan()
    assert plan({"periodSeconds": 2, "failureThreshold": 1}) == ProbePlan(period_seconds=2, failures=1)


@pytest.mark.parametrize(("port", "expected"), [(1, 1), ("http", 8080), ("90", 90)])
def test_ports_go_by_number_or_name(port: int | str, expected: int) -> None:
    assert named_port(CONTAINER, port) == expected


def asked(handler: Json, answer: bytes = b"", *, exit_code: int = 0) -> str | None:
    """Return what a probe finds wrong with a server that gives one answer to everything."""

    async def scenario() -> str | None:
        async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(answer)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()

        async def connect(port: int) -> Stream:
            if port != 8080:
                raise ConnectionRefusedError("refused")
            return await asyncio.open_connection(*address)

        async def execute(command: list[str], seconds: float) -> tuple[int, str]:
            return exit_code, f"{' '.join(command)} {seconds:g}"

        try:
            return await ask(handler, CONTAINER, timeout_seconds=5, connect=connect, execute=execute)
        finally:
            server.close()

    return run(scenario())


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (b"200 OK", None),
        (b"302 Found", None),
        (b"404 Not Found", "HTTP probe failed with statuscode: 404"),
        (b"500 Oh", "HTTP probe failed with statuscode: 500"),
    ],
)
def test_http_probe_goes_by_the_status(status: bytes, fault: str | None) -> None:
    assert asked({"httpGet": {"path": "/healthz", "port": "http"}}, b"HTTP/1.1 " + status + b"\r\n\r\n") == fault


def test_http_probe_of_something_else_fails() -> None:
    assert asked({"httpGet": {"port": 8080}}, b"hello") is not None
    assert asked({"httpGet": {"port": "metrics"}}) == "the container has no port named metrics"


def test_tcp_probe_goes_by_the_connection() -> None:
    assert asked({"tcpSocket": {"port": 8080}}) is None
    assert asked({"tcpSocket": {"port": 81}}) == "refused"


def test_command_probe_goes_by_the_exit_code_and_quotes_the_output() -> None:
    assert asked({"exec": {"command": ["check", "it"]}}) is None
    assert asked({"exec": {"command": ["check", "it"]}}, exit_code=1) == "check it 5"
