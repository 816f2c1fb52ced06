"""One pod's files on this machine: logs, process ids, volumes, and what its containers find in `/etc`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOG_LIMIT_BYTES = 16 * 2**20
_OWNER = "uid"
_MESSAGE_LIMIT_BYTES = 4096
_TAIL_LIMIT_BYTES = 2048
_NAME_SERVICES = "passwd: files\ngroup: files\nhosts: files dns\n"


@dataclass(frozen=True)
class PodFolder:
    """The folder of one pod, named by namespace and name as `flotilla sandbox logs` expects it."""

    path: Path

    @classmethod
    def of(cls, pods: Path, namespace: str, name: str) -> PodFolder:
        """Return the folder of a pod, which need not exist."""
        return cls(pods / f"{namespace}_{name}")

    def prepare(self, uid: str) -> None:
        """Create the folder for a pod; what an earlier pod of the same name left is removed."""
        with suppress(FileNotFoundError):
            if self.owner != uid:
                shutil.rmtree(self.path, ignore_errors=True)
        for folder in (self.path, self.root, self.etc, self.path / "volumes"):
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        (self.path / _OWNER).write_text(uid)
        (self.etc / "nsswitch.conf").write_text(_NAME_SERVICES)

    def remove(self, uid: str) -> None:
        """Remove everything of a pod, unless a later one of the same name has taken the folder over."""
        with suppress(FileNotFoundError):
            if self.owner == uid:
                shutil.rmtree(self.path, ignore_errors=True)

    @property
    def owner(self) -> str:
        """The uid of the pod the folder belongs to; FileNotFoundError when it belongs to none."""
        return (self.path / _OWNER).read_text()

    @property
    def root(self) -> Path:
        """An empty folder, on which each container builds its own root."""
        return self.path / "root"

    @property
    def etc(self) -> Path:
        """Files that containers find in `/etc` and that change while they run."""
        return self.path / "etc"

    def volume(self, name: str) -> Path:
        """Return the folder of a volume that lives as long as the pod."""
        return self.path / "volumes" / name

    def log(self, container: str, *, previous: bool = False) -> Path:
        """Return a container's log, or that of its process before the present one."""
        return self.path / f"{container}{'.previous' if previous else ''}.log"

    def pid(self, container: str) -> Path:
        """Return the file with the host's id of a container's process; it exists while the process runs."""
        return self.path / f"{container}.pid"

    def termination_message(self, container: str) -> Path:
        """Return the file a container may write its last words to."""
        return self.path / f"{container}.termination"

    def open_log(self, container: str) -> int:
        """Start a new log, keeping the one before it; return a descriptor to append to."""
        log = self.log(container)
        with suppress(FileNotFoundError):
            log.replace(self.log(container, previous=True))
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        return os.open(log, flags, 0o600)

    def fresh_termination_message(self, container: str) -> Path:
        """Empty the file for last words, and let any user of the container write it."""
        path = self.termination_message(container)
        path.write_bytes(b"")
        path.chmod(0o666)
        return path

    def last_words(self, container: str, *, from_log: bool) -> str:
        """Return what a container left as its termination message, or if asked for the end of its log."""
        with suppress(FileNotFoundError):
            if words := self.termination_message(container).read_bytes()[:_MESSAGE_LIMIT_BYTES]:
                return words.decode(errors="replace")
            if from_log:
                return self.log(container).read_bytes()[-_TAIL_LIMIT_BYTES:].decode(errors="replace")
        return ""

    def write_etc(self, name: str, content: str) -> None:
        """Replace a file of `/etc` at once."""
        fresh = self.etc / f".{name}"
        fresh.write_text(content)
        fresh.chmod(0o644)
        fresh.replace(self.etc / name)

    def trim_log(self, container: str) -> None:
        """Cut a log that has grown too long; what it held becomes the previous log."""
        log = self.log(container)
        with suppress(FileNotFoundError):
            if log.stat().st_size > LOG_LIMIT_BYTES:
                shutil.copyfile(log, self.log(container, previous=True))
                os.truncate(log, 0)


def sweep(pods: Path, known: Callable[[str], bool]) -> None:
    """Remove the folders of pods that are gone: those whose uid is not known."""
    for path in pods.iterdir():
        folder = PodFolder(path)
        with suppress(FileNotFoundError):
            if not known(folder.owner):
                folder.remove(folder.owner)
