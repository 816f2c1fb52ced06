"""A pod's first process: makes the pod's namespaces, starts and reaps its containers, ends when the agent ends.

It answers the agent over one socket (descriptor given as first argument; the pod's network as JSON in the second):

- `socket`: hands over an unconnected TCP socket of the pod's outer network namespace;
- `start`: starts a process, described by a file whose descriptor comes along with the one for its output;
- `signal`: sends a signal to a process of the pod, or to its whole session.

It reports each end of a process. When the agent's end of the socket closes, for whatever reason, it exits, and
the kernel ends everything in the pod's process namespace.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from sandbox.agent.inside import syscalls
from sandbox.agent.inside.launch import launch
from sandbox.agent.inside.network import Network, make_network

_BASE = syscalls.NEW_MOUNT | syscalls.NEW_PID | syscalls.NEW_IPC | syscalls.NEW_UTS
_LARGEST_REQUEST = 1 << 16


class Pod:
    """The pod as seen from inside: its control socket, its network, its processes."""

    def __init__(self, control: socket.socket, network: Network) -> None:
        self._control = control
        self._network = network

    def serve(self) -> None:
        """Answer requests and reap children until the agent is gone."""
        wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(wake, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == wake:
                    os.read(wake, 4096)
                    self._reap()
                elif not self._answer():
                    return

    def _answer(self) -> bool:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, _LARGEST_REQUEST, 2)
        except ConnectionError:
            return False
        if not data:
            return False
        request = json.loads(data)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        try:
            getattr(self, f"_on_{request['op']}")(request, descriptors)
        except OSError as error:
            self._send({"id": request["id"], "error": str(error)})
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return True

    def _on_socket(self, request: dict[str, Any], _: list[int]) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as fresh:
            self._send({"id": request["id"]}, fresh.fileno())

    def _on_signal(self, request: dict[str, Any], _: list[int]) -> None:
        with suppress(ProcessLookupError):
            send = os.killpg if request["session"] else os.kill
            send(request["pid"], request["signal"])
        self._send({"id": request["id"]})

    def _on_start(self, request: dict[str, Any], descriptors: list[int]) -> None:
        description, output = descriptors
        with os.fdopen(os.dup(description), "rb") as file:
            spec = json.load(file)
        pid, host_pid = launch(spec, output, self._network.inner)
        self._send({"id": request["id"], "pid": pid, "host_pid": host_pid})

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, signal.SIGKILL)
                self._send({"exited": pid, "code": os.waitstatus_to_exitcode(status)})

    def _send(self, message: dict[str, Any], *descriptors: int) -> None:
        socket.send_fds(self._control, [json.dumps(message).encode()], list(descriptors))


def _isolate() -> bool:
    """Enter new namespaces; return whether that took a user namespace, in which only one user exists."""
    try:
        syscalls.unshare(_BASE)
    except PermissionError:
        user, group = os.geteuid(), os.getegid()
        syscalls.unshare(_BASE | syscalls.NEW_USER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
        return True
    return False


def _report(control: socket.socket, **facts: object) -> None:
    with suppress(ConnectionError):
        control.send(json.dumps(facts).encode())


def main() -> int:
    """Become the parent of a new process namespace; the child is the pod's first process."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    plan = json.loads(sys.argv[2])
    os.umask(0o022)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        one_user = _isolate()
    except OSError as error:
        _report(control, failed=error.strerror or str(error))
        return 1
    child = os.fork()
    if child:
        control.close()
        os.waitpid(child, 0)
        return 0
    syscalls.die_with_parent(signal.SIGKILL)
    try:
        syscalls.mount("", "/", flags=syscalls.RECURSIVE | syscalls.PRIVATE)
        socket.sethostname(plan["hostname"])
        network = make_network(plan["address"], plan["gateway"], plan["networks"])
    except OSError as error:
        _report(control, failed=error.strerror or str(error))
        return 1
    _report(control, ready=True, one_user=one_user)
    Pod(control, network).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
