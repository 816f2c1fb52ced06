"""Writing the sandbox's files: private, whole or not at all, and with errors a person can act on."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from infra.errors import FlotillaError

if TYPE_CHECKING:
    from collections.abc import Generator

_FULL = {errno.ENOSPC, errno.EDQUOT}


def write_private(path: Path, content: str | bytes) -> bool:
    """Write a file that only its owner can read; return whether the content changed.

    The file appears complete or not at all, so an interrupted run never leaves half of one.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data:
        return False
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return True


def require_space(folder: Path, mebibytes: int) -> None:
    """Refuse to start on a disk that is as good as full, before the folder exists.

    Raises:
        FlotillaError: the file system of the folder has less free space than that.

    """
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(existing).free // 2**20
    if free < mebibytes:
        raise FlotillaError(
            f"the disk is full: {free} MiB free, the sandbox needs {mebibytes} MiB",
            where=str(folder),
            remedy="Free some space, or put the sandbox on another disk",
        )


@contextmanager
def storage_errors(folder: Path) -> Generator[None]:
    """Turn what the file system refuses below a folder into one clear line."""
    try:
        yield
    except OSError as error:
        place = str(error.filename or folder)
        if error.errno in _FULL:
            raise FlotillaError(
                "the disk is full", where=place, remedy="Free some space, then run the command again"
            ) from error
        raise FlotillaError(
            f"cannot be written: {error.strerror or error}",
            where=place,
            remedy="Make the folder writable for you, or choose another one",
        ) from error


@contextmanager
def exclusive(file: Path, timeout_seconds: float = 300.0) -> Generator[None]:
    """Hold a lock file, so that no two programs change the same sandbox.

    Raises:
        FlotillaError: another program held it all that time.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(file, timeout=timeout_seconds)
    try:
        lock.acquire()
    except Timeout:
        raise FlotillaError(
            "another command is changing this sandbox",
            where=str(file),
            remedy="Wait for it to end, then try again",
        ) from None
    try:
        yield
    finally:
        lock.release()
