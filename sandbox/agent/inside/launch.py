"""Starts one process of a container: its namespaces, file system, user and environment, then its program."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from sandbox.agent.inside import syscalls
from sandbox.agent.inside.rootfs import build


def launch(spec: dict[str, Any], output: int, network: int) -> tuple[int, int]:
    """Fork and execute a process; return its id here and on the host.

    Args:
        spec: what to run, see `sandbox.agent.launching`.
        output: descriptor that takes the process's standard output and error.
        network: descriptor of the network namespace the process runs in.

    Raises:
        OSError: the process could not be set up; its message says which step failed.
    """
    receive, send = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if not pid:
        try:
            os.write(send, bytes(Path("/proc/self").readlink()) + b"\n")
            _become(spec, output, network)
        except BaseException as error:
            os.write(send, f"{error}".encode() or repr(error).encode())
        os._exit(127)
    os.close(send)
    with os.fdopen(receive, "rb") as reader:
        host_pid, _, failure = reader.read().partition(b"\n")
    if failure:
        raise OSError(failure.decode(errors="replace"))
    return pid, int(host_pid)


def _become(spec: dict[str, Any], output: int, network: int) -> None:
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    syscalls.enter(network, syscalls.NEW_NET)
    if spec["join"]:
        syscalls.enter(os.pidfd_open(spec["join"]), syscalls.NEW_MOUNT)
    else:
        syscalls.unshare(syscalls.NEW_MOUNT)
        build(spec["root"], spec["entries"], read_only=spec["read_only"])
    os.chdir(spec["folder"])
    _take_identity(spec["identity"], one_user=spec["one_user"])
    _execute(spec["arguments"], spec["environment"])


def _take_identity(identity: dict[str, Any], *, one_user: bool) -> None:
    syscalls.keep_capabilities(set(identity["capabilities"]))
    if not one_user:
        os.setgroups(identity["groups"])
        os.setgid(identity["group"])
        os.setuid(identity["user"])
    if identity["no_new_privileges"]:
        syscalls.forbid_new_privileges()


def _execute(arguments: list[str], environment: dict[str, str]) -> None:
    program = arguments[0]
    if "/" in program:
        candidates = [program]
    else:
        path = environment.get("PATH", os.defpath)
        candidates = [f"{folder}/{program}" for folder in path.split(":") if folder]
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            os.execve(candidate, arguments, environment)  # noqa: S606 - a pod runs what it declares
    raise FileNotFoundError(f"exec: {program!r}: executable file not found in $PATH")
