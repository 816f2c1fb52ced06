"""The agent's hold on one pod's namespaces: starting processes in them, and sockets that belong to them."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infra.errors import FlotillaError
from infra.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

GATEWAY = "10.200.0.1"
"""Where a container sees connections from outside its pod come from."""

_START_SECONDS = 30.0
_LARGEST_MESSAGE = 1 << 16
_LOST = -9


@dataclass(eq=False)
class Process:
    """A process in a pod: its id inside, its id on the host, and its exit code when it ends (`-n` for signal n)."""

    pid: int
    host_pid: int
    ended: asyncio.Future[int]


class PodNamespace:
    """A pod's namespaces. They end, with every process in them, when this is closed or the agent dies."""

    def __init__(self, control: socket.socket, holder: subprocess.Popen[bytes]) -> None:
        self._loop = asyncio.get_running_loop()
        self._control = control
        self._holder = holder
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[tuple[dict[str, Any], list[int]]]] = {}
        self._processes: dict[int, Process] = {}
        self.one_user = False
        self.lost: asyncio.Future[None] = self._loop.create_future()

    @classmethod
    async def open(cls, *, address: str, hostname: str, networks: Sequence[str]) -> PodNamespace:
        """Create the namespaces of a pod.

        Raises:
            FlotillaError: the system does not allow it, or it took too long.
        """
        plan = {"address": address, "gateway": GATEWAY, "hostname": hostname, "networks": list(networks)}
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            holder = subprocess.Popen(
                [sys.executable, "-S", "-m", "sandbox.agent.inside", str(theirs.fileno()), json.dumps(plan)],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
        ours.setblocking(False)
        namespace = cls(ours, holder)
        try:
            async with asyncio.timeout(_START_SECONDS):
                first = json.loads(await namespace._loop.sock_recv(ours, _LARGEST_MESSAGE) or b"{}")
        except (TimeoutError, ConnectionError):
            first = {"failed": f"no answer within {_START_SECONDS:.0f} seconds"}
        if not first.get("ready"):
            await namespace.close()
            raise FlotillaError(f"namespaces cannot be created: {first.get('failed', 'the helper ended')}")
        namespace.one_user = first["one_user"]
        namespace._loop.add_reader(ours, namespace._receive)
        return namespace

    async def socket(self) -> socket.socket:
        """Return a fresh TCP socket of the pod's outer network: it can listen for the pod or connect to it."""
        _, descriptors = await self._request({"op": "socket"})
        fresh = socket.socket(fileno=descriptors[0])
        fresh.setblocking(False)
        return fresh

    async def start(self, spec: dict[str, Any], output: int) -> Process:
        """Start a process; its output goes to a descriptor.

        Raises:
            FlotillaError: it could not be set up or its program could not be executed.
        """
        description = os.memfd_create("process")
        try:
            os.write(description, json.dumps(spec).encode())
            os.lseek(description, 0, os.SEEK_SET)
            answer, _ = await self._request({"op": "start"}, description, output)
        finally:
            os.close(description)
        return answer["process"]

    async def signal(self, process: Process, number: int, *, session: bool = False) -> None:
        """Send a signal to a process, or to everything it started as well."""
        if not process.ended.done():
            await self._request({"op": "signal", "pid": process.pid, "signal": number, "session": session})

    async def close(self) -> None:
        """End everything in the pod."""
        self._lose()
        await asyncio.to_thread(self._holder.wait)

    async def _request(self, request: dict[str, Any], *descriptors: int) -> tuple[dict[str, Any], list[int]]:
        if self.lost.done():
            raise FlotillaError("the pod's namespaces are gone")
        number = next(self._numbers)
        answered = self._answers[number] = self._loop.create_future()
        try:
            socket.send_fds(self._control, [json.dumps({**request, "id": number}).encode()], list(descriptors))
            answer, received = await answered
        except OSError as error:
            raise FlotillaError(f"the pod's namespaces are gone: {error}") from error
        finally:
            self._answers.pop(number, None)
        if "error" in answer:
            raise FlotillaError(answer["error"])
        return answer, received

    def _receive(self) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, _LARGEST_MESSAGE, 1)
        except BlockingIOError:
            return
        except OSError:
            data, descriptors = b"", []
        if not data:
            self._lose()
            return
        message = json.loads(data)
        if "exited" in message:
            if process := self._processes.pop(message["exited"], None):
                process.ended.set_result(message["code"])
            return
        if "pid" in message:
            process = Process(message["pid"], message["host_pid"], self._loop.create_future())
            message["process"] = self._processes[process.pid] = process
        answered = self._answers.get(message["id"])
        if answered and not answered.done():
            answered.set_result((message, descriptors))

    def _lose(self) -> None:
        if self.lost.done():
            return
        self.lost.set_result(None)
        self._loop.remove_reader(self._control)
        self._control.close()
        for answered in self._answers.values():
            if not answered.done():
                answered.set_exception(ConnectionResetError("the connection closed"))
        for process in self._processes.values():
            process.ended.set_result(_LOST)
        self._processes.clear()
