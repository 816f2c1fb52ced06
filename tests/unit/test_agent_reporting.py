"""A pod's status is written while its machine lives, and by nobody once that is gone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from sandbox.agent.reporting import Reporter
from sandbox.agent.status import Facts
from tests.unit.agent_objects import pod, run

Json = dict[str, Any]


class Server:
    """Takes note of what is written."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def patch(self, path: str, change: Json) -> Json:
        self.written.append(path)
        written = pod() | {"status": change["status"]}
        written["metadata"]["resourceVersion"] = "2"
        return written


def reporter(server: Server) -> Reporter:
    declared = pod()
    declared["metadata"]["resourceVersion"] = "1"

    facts = Facts(pod=declared, address=None, host_address=None, started_at=datetime.now(UTC))
    return Reporter(cast("Any", server), declared, lambda: facts)


def test_status_is_written_once_until_it_changes() -> None:
    server = Server()
    told = reporter(server)

    async def twice() -> None:
        await told.flush()
        await told.flush()

    run(twice())
    assert server.written == ["/api/v1/namespaces/demo/pods/web-0/status"]


def test_nobody_reports_from_a_machine_that_is_gone() -> None:
    server = Server()
    told = reporter(server)
    told.silence()

    run(told.flush())

    assert server.written == []
    assert told.silent
