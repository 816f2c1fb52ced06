"""Builds the file system a container sees: a fresh root with folders of the host and the pod's volumes in it."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from sandbox.agent.inside import syscalls

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}


class Entry(TypedDict):
    """One thing in the container's file system.

    `kind` is `folder` (made with `mode`), `link` (pointing to `source`) or `bind` (of the host's `source`).
    """

    kind: str
    target: str
    source: str
    mode: int
    read_only: bool


def build(root: str, entries: list[Entry], *, read_only: bool) -> None:
    """Put the file system together on an empty folder and make it this process's root."""
    syscalls.mount("", "/", flags=syscalls.RECURSIVE | syscalls.PRIVATE)
    syscalls.mount("tmpfs", root, "tmpfs", syscalls.NO_SUID, "mode=755")
    for entry in entries:
        _add(root, entry)
    _add_devices(root)
    _add_processes(root)
    if read_only:
        syscalls.make_read_only(root)
    syscalls.pivot_root(root)


def _add(root: str, entry: Entry) -> None:
    target = Path(root + entry["target"])
    target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if entry["kind"] == "folder":
        target.mkdir(exist_ok=True)
        target.chmod(entry["mode"])
    elif entry["kind"] == "link":
        target.symlink_to(entry["source"])
    else:
        _bind(entry["source"], target, read_only=entry["read_only"])


def _bind(source: str, target: Path, *, read_only: bool) -> None:
    if Path(source).is_dir():
        target.mkdir(exist_ok=True)
    else:
        target.touch(exist_ok=True)
    syscalls.mount(source, str(target), flags=syscalls.BIND | syscalls.RECURSIVE)
    if read_only:
        syscalls.make_read_only(str(target))


def _add_devices(root: str) -> None:
    devices = Path(root, "dev")
    devices.mkdir(exist_ok=True)
    for name in _DEVICES:
        source = f"/dev/{name}"
        if Path(source).exists():
            _bind(source, devices / name, read_only=False)
    for name, source in _DEVICE_LINKS.items():
        (devices / name).symlink_to(source)
    memory = devices / "shm"
    memory.mkdir()
    syscalls.mount("shm", str(memory), "tmpfs", syscalls.NO_SUID | syscalls.NO_DEV, "mode=1777,size=64m")


def _add_processes(root: str) -> None:
    folder = Path(root, "proc")
    folder.mkdir()
    try:
        syscalls.mount("proc", str(folder), "proc", syscalls.NO_SUID | syscalls.NO_DEV | syscalls.NO_EXEC)
    except PermissionError:
        _bind("/proc", folder, read_only=False)
