"""What the agent is told of its sandbox, and what it tells in return."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from infra.errors import FlotillaError
from sandbox.files import write_private

_REPORT = "agent.json"


@dataclass(frozen=True, kw_only=True)
class Description:
    """The sandbox's facts the agent works with, read from the sandbox's folder."""

    folder: Path
    outside_file: Path
    kubeconfig: Path
    server: str
    runtime_folder: Path
    egress_socket: Path
    pods_folder: Path
    tools_folder: Path
    service_cidr: str
    api_service_address: str
    process_pod_cidr: str
    certificate: Path
    key: Path

    @classmethod
    def read(cls, folder: Path) -> Description:
        """Read a sandbox's description.

        Raises:
            FlotillaError: it does not exist or lacks something.
        """
        file = folder / "sandbox.json"
        try:
            content = json.loads(file.read_text())
            return cls(
                folder=folder,
                outside_file=Path(content["outsideFile"]),
                kubeconfig=Path(content["kubeconfig"]),
                server=content["server"],
                runtime_folder=Path(content["runtimeFolder"]),
                egress_socket=Path(content["egressSocket"]),
                pods_folder=Path(content["podsFolder"]),
                tools_folder=Path(content["toolsFolder"]),
                service_cidr=content["serviceCidr"],
                api_service_address=content["apiServiceAddress"],
                process_pod_cidr=content["processPodCidr"],
                certificate=Path(content["pki"]["kubeletCertificate"]),
                key=Path(content["pki"]["kubeletKey"]),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FlotillaError(
                f"the sandbox's description cannot be read: {error}",
                where=str(file),
                remedy="Run `flotilla sandbox up`, which writes it",
            ) from error


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the agent found out about this machine.

    Args:
        processes: whether it lets pods run as processes.
        reason: if not, why.
        images: repositories of the images whose program is there, so that their pods run as processes.
    """

    processes: bool
    reason: str | None = None
    images: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        """Write it where `flotilla sandbox status` reads it."""
        content = {"processes": self.processes, "reason": self.reason, "images": self.images}
        write_private(folder / _REPORT, json.dumps(content) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Report | None:
        """Read it; None when the agent has not started yet."""
        try:
            content = json.loads((folder / _REPORT).read_text())
        except (OSError, ValueError):
            return None
        return cls(
            processes=bool(content.get("processes")),
            reason=content.get("reason"),
            images=tuple(content.get("images", ())),
        )
