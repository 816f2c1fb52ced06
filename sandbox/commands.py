"""The processes of a sandbox as commands, in the order in which they need one another."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

from sandbox import agent_process, stages
from sandbox.control_plane import ADMIN
from sandbox.files import write_private
from sandbox.processes import Command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sandbox.api import ApiClient
    from sandbox.control_plane import ControlPlane


WAVES = 3


def waves(control_plane: ControlPlane, tools: Path, api: ApiClient) -> Iterator[list[Command]]:
    """Yield commands in waves: each needs the ones before it to be ready, its members start side by side.

    kwok comes last, since the agent finds out first which pods it can run and kwok gets the others.
    """
    pki, layout = control_plane.pki, control_plane.layout
    environment = {"PATH": os.defpath, "HOME": str(layout.folder), "TMPDIR": str(layout.runtime)}

    def program(name: str, arguments: list[str], *, health: str, inputs: tuple[Path, ...] = ()) -> Command:
        port = control_plane.ports[name]
        return Command(
            name=name,
            arguments=(str(tools / name), *arguments),
            port=port,
            ready=lambda: api.answers(health) if health else listens(port),
            inputs=inputs,
            environment=environment,
        )

    def local(name: str) -> str:
        return f"https://127.0.0.1:{control_plane.ports[name]}/healthz"

    etcd = program("etcd", control_plane.etcd(), health="", inputs=(pki.certificate("etcd"),))
    apiserver = program(
        "kube-apiserver",
        control_plane.apiserver(),
        health="/readyz",
        inputs=(control_plane.token_file, control_plane.egress_file),
    )
    yield [etcd, apiserver]
    controller_manager = program(
        "kube-controller-manager",
        control_plane.controller_manager(),
        health=local("kube-controller-manager"),
        inputs=(control_plane.kubeconfig_file("controller-manager"),),
    )
    scheduler = program(
        "kube-scheduler",
        control_plane.scheduler(),
        health=local("kube-scheduler"),
        inputs=(control_plane.kubeconfig_file("scheduler"),),
    )
    yield [controller_manager, scheduler, agent_process.command(control_plane)]
    write_private(control_plane.stages_file, stages.render(agent_process.process_images(layout.folder)))
    inputs = (control_plane.stages_file, control_plane.kubeconfig_file(ADMIN))
    yield [program("kwok", control_plane.kwok(), health="", inputs=inputs)]


def listens(port: int) -> bool:
    """Return whether something accepts connections on a local port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0
