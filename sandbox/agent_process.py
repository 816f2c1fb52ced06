"""The agent as seen from outside: what it is told of its sandbox, and how it is started."""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import TYPE_CHECKING

from infra.paths import ROOT
from sandbox import network
from sandbox.agent.description import Description, Report
from sandbox.control_plane import ADMIN
from sandbox.processes import Command

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.control_plane import ControlPlane

NAME = "agent"


def process_images(folder: Path) -> frozenset[str]:
    """Return the image repositories whose pods run as processes in a sandbox whose agent has started.

    Those whose program is there; none where this machine does not let pods run as processes.
    """
    report = Report.read(folder)
    return frozenset(report.images) if report and report.processes else frozenset()


def tools_folder(folder: Path) -> Path:
    """Return the folder of the programs a sandbox was started with.

    Raises:
        FlotillaError: it was never started.

    """
    return Description.read(folder).tools_folder


def describe(control_plane: ControlPlane, *, tools: Path) -> str:
    """Return what the agent must know of its sandbox, as JSON."""
    layout, pki = control_plane.layout, control_plane.pki
    description: dict[str, object] = {
        "outsideFile": str(layout.outside),
        "kubeconfig": str(control_plane.kubeconfig_file(ADMIN)),
        "server": control_plane.server,
        "runtimeFolder": str(layout.runtime),
        "egressSocket": str(layout.egress_socket),
        "podsFolder": str(layout.pods),
        "toolsFolder": str(tools),
        "serviceCidr": network.SERVICE_CIDR,
        "apiServiceAddress": network.API_SERVICE_ADDRESS,
        "processPodCidr": network.PROCESS_POD_CIDR,
        "pki": {
            "kubeletCertificate": str(pki.certificate("kubelet")),
            "kubeletKey": str(pki.key("kubelet")),
        },
    }
    return json.dumps(description, indent=2) + "\n"


def command(control_plane: ControlPlane) -> Command:
    """Return how the agent is started."""
    layout = control_plane.layout
    return Command(
        name=NAME,
        arguments=(sys.executable, "-m", "sandbox.agent", "--folder", str(layout.folder)),
        port=None,
        ready=lambda: _answers(layout.egress_socket),
        inputs=(layout.description,),
        environment={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
    )


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
