"""Runs one server, and ends it when whoever asked for it is gone, however that came about.

`python -S keeper.py DESCRIPTOR GRACE_SECONDS HIDE_ROOT PROGRAM ARGUMENTS…`: standard input is a pipe whose other end
only the test run holds; when it closes, the server's process group is asked to end, and killed after the grace. The
server's pid is written to the descriptor. It imports the standard library only, so that a server starts fast.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

_NEW_USER = 0x10000000
_ORDINARY_USER = 1000
_DIE_WITH_PARENT = 1
_libc = ctypes.CDLL(None, use_errno=True)


def _hide_root() -> None:
    """Let root look like an ordinary user to this process, for servers that refuse to run as root."""
    user, group = os.geteuid(), os.getegid()
    if _libc.unshare(_NEW_USER):
        raise OSError(ctypes.get_errno(), "a user namespace cannot be made")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{_ORDINARY_USER} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{_ORDINARY_USER} {group} 1")


def _start(command: list[str], report: int, *, hide_root: bool) -> int:
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    _libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    os.close(report)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        if hide_root:
            _hide_root()
        os.execvp(command[0], command)  # noqa: S606 - running a server is what this is for
    except OSError as error:
        os.write(2, f"{command[0]}: {error}\n".encode())
    os._exit(127)


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def main() -> int:
    """Run the server; return its exit code."""
    report, grace_seconds, hide_root = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "yes"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pid = _start(sys.argv[4:], report, hide_root=hide_root)
    os.write(report, str(pid).encode())
    os.close(report)
    ended = os.pidfd_open(pid)
    ready, _, _ = select.select([0, ended], [], [])
    if ended not in ready:
        _signal(pid, signal.SIGTERM)
        deadline = time.monotonic() + grace_seconds
        select.select([ended], [], [], max(0.0, deadline - time.monotonic()))
    _signal(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return abs(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    sys.exit(main())
