"""The agent of process pods: its own end, missing programs, machines that cannot isolate processes."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sandbox.agent.images import PROCESS_IMAGES
from sandbox.agent.simulated import SIMULATED
from sandbox.agent_process import NAME
from sandbox.cluster import Sandbox
from sandbox.nodes import Node
from tests.e2e.objects import eventually
from tests.e2e.process_pods import SERVER, Place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


pytestmark = pytest.mark.e2e


def test_agent_that_is_killed_takes_its_processes_along_and_starts_them_again(
    new_sandbox: Callable[[], Sandbox],
) -> None:
    own = new_sandbox()
    nodes = [Node(name="n1", zone="a", capacity={"cpu": "4", "memory": "8Gi"})]
    own.up(nodes)
    with own.api() as api:
        here = Place(own, api)
        here.serve("web")
        process = here.process("web")
        agent = own.processes.running(NAME)
        assert agent is not None
        os.kill(agent.pid, signal.SIGKILL)
        eventually(lambda: not process.is_running())
        own.up(nodes)
        eventually(lambda: here.container("web").get("restartCount") == 1)
        here.until_ready("web")
        assert here.container("web")["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"


def test_program_that_vanished_is_an_image_error_and_one_that_was_never_there_is_simulated(
    tools: Path, tmp_path: Path
) -> None:
    image = next(name for name, each in PROCESS_IMAGES.items() if each.tool)
    program = f"{PROCESS_IMAGES[image].tool}"
    links = tmp_path / "tools"
    links.mkdir()
    for path in tools.iterdir():
        (links / path.name).symlink_to(path)
    own = Sandbox("own", tmp_path / "own", tools=links)
    nodes = [Node(name="n1", zone="a", capacity={"cpu": "4", "memory": "8Gi"})]
    container = {"image": f"{image}:1", "command": [PROCESS_IMAGES[image].path]}
    try:
        own.up(nodes)
        (links / program).unlink()
        with own.api() as api:
            here = Place(own, api)
            here.run("vanished", "", container=container)
            eventually(lambda: "waiting" in here.container("vanished").get("state", {}))
            eventually(lambda: here.container("vanished")["state"]["waiting"]["reason"] == "ErrImagePull")
            assert "flotilla toolchain build" in here.container("vanished")["state"]["waiting"]["message"]
            here.api.delete(f"{here.path}/pods/vanished")
            eventually(lambda: here.gone("vanished"))
        own.down(keep_data=True)
        own.up(nodes)
        with own.api() as api:
            here = Place(own, api)
            here.run("absent", "", container=container)
            eventually(lambda: here.condition("absent", SIMULATED) == "True")
            assert here.pod("absent")["status"]["phase"] == "Running"
            assert "simulated" in here.kubectl("logs", "absent").text
    finally:
        own.down()


ONLY_SIMULATED = """
import pathlib, sys
from sandbox.cluster import Sandbox
from sandbox.nodes import Node
folder, tools = map(pathlib.Path, sys.argv[1:])
Sandbox(folder.name, folder, tools=tools).up([Node(name="n1", zone="a", capacity={"cpu": "4", "memory": "8Gi"})])
"""


def test_machine_without_namespaces_simulates_every_pod_and_says_why(
    new_sandbox: Callable[[], Sandbox], tools: Path
) -> None:
    own = new_sandbox()
    up = [sys.executable, "-c", ONLY_SIMULATED, str(own.folder), str(tools)]
    forbidding = f"echo 0 > /proc/sys/user/max_net_namespaces && exec {shlex.join(up)}"
    subprocess.run(["unshare", "--map-root-user", "sh", "-c", forbidding], check=True, timeout=120)
    reason = own.status().only_simulated_because
    assert reason is not None
    assert "namespaces cannot be created" in reason
    with own.api() as api:
        here = Place(own, api)
        here.run("web", SERVER)
        eventually(lambda: here.condition("web", SIMULATED) == "True")
        assert here.pod("web")["status"]["phase"] == "Running"
        assert "simulated" in here.kubectl("logs", "web").text
        here.api.delete(f"{here.path}/pods/web")
        eventually(lambda: here.gone("web"))
