"""Where one sandbox keeps what: a state folder, and a short-named folder for sockets."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from infra.errors import FlotillaError

_LONGEST_SOCKET_FOLDER = 70
"""A Unix socket's path has about 100 characters; the names inside the folder need the rest."""


@dataclass(frozen=True)
class Layout:
    """The paths of one sandbox, all derived from its state folder."""

    folder: Path

    @property
    def kubeconfig(self) -> Path:
        """Kubeconfig for people and programs: administrator and named users."""
        return self.folder / "kubeconfig"

    @property
    def pki(self) -> Path:
        """Certificate authorities, certificates and keys."""
        return self.folder / "pki"

    @property
    def etcd(self) -> Path:
        """The cluster's data."""
        return self.folder / "etcd"

    @property
    def logs(self) -> Path:
        """One log file for each control plane process."""
        return self.folder / "logs"

    @property
    def records(self) -> Path:
        """One record for each process started: pid and what identifies it."""
        return self.folder / "processes"

    @property
    def config(self) -> Path:
        """Generated configuration of the control plane's processes."""
        return self.folder / "config"

    @property
    def pods(self) -> Path:
        """Logs and pids of pods that run as processes."""
        return self.folder / "pods"

    @property
    def ports(self) -> Path:
        """The ports chosen at the first start."""
        return self.folder / "ports.json"

    @property
    def users(self) -> Path:
        """The users who have a token."""
        return self.folder / "users.json"

    @property
    def description(self) -> Path:
        """What the agent must know of its sandbox."""
        return self.folder / "sandbox.json"

    @property
    def outside(self) -> Path:
        """The servers outside that process pods reach by name."""
        return self.folder / "outside.json"

    @property
    def lock(self) -> Path:
        """Held while the sandbox is changed; beside the folder, because `down` removes the folder."""
        return self.folder.parent / f".{self.folder.name}.lock"

    @property
    def runtime(self) -> Path:
        """Folder for sockets, whose paths must be short whatever the state folder is called."""
        digest = hashlib.sha256(str(self.folder).encode()).hexdigest()[:10]
        name = f"flotilla-{os.getuid()}-{digest}"
        preferred = Path(tempfile.gettempdir()) / name
        if len(str(preferred)) <= _LONGEST_SOCKET_FOLDER:
            return preferred
        return Path("/") / "tmp" / name

    @property
    def egress_socket(self) -> Path:
        """Where the agent serves the API server's way to pods, Services and nodes."""
        return self.runtime / "egress.sock"

    def require_ours(self) -> None:
        """Refuse a folder that holds something else, since `down` removes the whole of it.

        Raises:
            FlotillaError: the folder has content and is no sandbox's.
        """
        if self.folder.is_dir() and any(self.folder.iterdir()) and not self.records.is_dir():
            raise FlotillaError("is not a sandbox's folder", where=str(self.folder), remedy="Choose another name")

    def create(self) -> None:
        """Create the folders, private to their owner.

        Raises:
            FlotillaError: somebody else owns the folder for sockets.

        """
        for folder in (self.folder, self.records, self.pki, self.logs, self.config, self.pods):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.runtime.mkdir(mode=0o700, exist_ok=True)
        facts = self.runtime.lstat()
        if self.runtime.is_symlink() or facts.st_uid != os.getuid():
            raise FlotillaError(
                "the folder for sockets belongs to somebody else",
                where=str(self.runtime),
                remedy="Remove it, or set TMPDIR to a folder of your own",
            )
        self.runtime.chmod(0o700)
