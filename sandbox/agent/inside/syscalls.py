"""The Linux calls that Python 3.11 has no function for."""

from __future__ import annotations

import ctypes
import os
import platform

NEW_MOUNT = 0x00020000
NEW_UTS = 0x04000000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PID = 0x20000000
NEW_NET = 0x40000000

READ_ONLY = 0x1
NO_SUID = 0x2
NO_DEV = 0x4
NO_EXEC = 0x8
REMOUNT = 0x20
NO_ATIME = 0x400
NO_DIR_ATIME = 0x800
BIND = 0x1000
RECURSIVE = 0x4000
PRIVATE = 0x40000
RELATIVE_ATIME = 0x200000

_DETACH = 0x2
_SET_PARENT_DEATH_SIGNAL = 1
_DROP_CAPABILITY = 24
_NO_NEW_PRIVILEGES = 38
_LAST_CAPABILITY = 63
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}

_KEPT_ON_REMOUNT = {
    os.ST_NOSUID: NO_SUID,
    os.ST_NODEV: NO_DEV,
    os.ST_NOEXEC: NO_EXEC,
    os.ST_NOATIME: NO_ATIME,
    os.ST_NODIRATIME: NO_DIR_ATIME,
    os.ST_RELATIME: RELATIVE_ATIME,
}

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Move this process, or for process ids its children, into new namespaces."""
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def enter(namespace: int, kind: int = 0) -> None:
    """Move this process into the namespace of a file descriptor: an open `/proc/PID/ns/` file, or a pidfd."""
    _check(_libc.setns(ctypes.c_int(namespace), ctypes.c_int(kind)), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or bind a folder or file to another place."""
    result = _libc.mount(
        source.encode(),
        target.encode(),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        options.encode() or None,
    )
    _check(result, f"mount on {target}")


def make_read_only(target: str) -> None:
    """Make one mount read-only, keeping the restrictions an unprivileged user may not lift."""
    present = os.statvfs(target).f_flag
    kept = sum(flag for seen, flag in _KEPT_ON_REMOUNT.items() if present & seen)
    mount("", target, flags=REMOUNT | BIND | READ_ONLY | kept)


def pivot_root(folder: str) -> None:
    """Make a mounted folder the root, and let go of the old one."""
    number = _PIVOT_ROOT.get(platform.machine())
    if number is None:
        raise OSError(f"pivot_root is not known for {platform.machine()}")
    os.chdir(folder)
    _check(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", ctypes.c_int(_DETACH)), "umount")
    os.chdir("/")


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this process a signal when its parent ends, however it ends."""
    _check(_libc.prctl(_SET_PARENT_DEATH_SIGNAL, ctypes.c_ulong(signal_number), 0, 0, 0), "prctl")


def forbid_new_privileges() -> None:
    """Make sure no program this process starts gains privileges it lacks."""
    _check(_libc.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), 0, 0, 0), "prctl")


def keep_capabilities(kept: set[int]) -> None:
    """Take every other capability away from the programs this process starts, for good."""
    for capability in range(_LAST_CAPABILITY + 1):
        if capability not in kept:
            _libc.prctl(_DROP_CAPABILITY, ctypes.c_ulong(capability), 0, 0, 0)


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
