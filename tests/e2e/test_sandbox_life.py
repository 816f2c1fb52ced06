"""The sandbox's life: it starts, survives being killed, stands beside others, and leaves nothing behind."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from infra.errors import FlotillaError
from infra.paths import ROOT
from sandbox import logs, ports
from sandbox.cluster import Sandbox
from sandbox.nodes import Node, Taint
from tests.e2e.objects import deployment, eventually, namespace, pod, processes_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.e2e

NODES = [Node(name=f"node-{zone}", zone=f"zone-{zone}", capacity={"cpu": "8", "memory": "32Gi"}) for zone in "abc"]


def test_second_up_changes_nothing(new_sandbox: Callable[[], Sandbox]) -> None:
    sandbox = new_sandbox()
    assert sandbox.up(NODES)
    before = sandbox.status().processes
    assert not sandbox.up(NODES)
    assert [process.pid for process in sandbox.status().processes] == [process.pid for process in before]


def test_nodes_are_brought_in_line(new_sandbox: Callable[[], Sandbox]) -> None:
    sandbox = new_sandbox()
    tainted = replace(NODES[0], taints=(Taint(key="old", effect="NoSchedule"),), labels={"old": "1"})
    sandbox.up([tainted, *NODES[1:]])
    bigger = replace(
        NODES[0],
        labels={"new": "1"},
        taints=(Taint(key="new", effect="NoSchedule"),),
        capacity={"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": "4"},
    )
    extra = Node(name="extra", zone="zone-a", capacity={"cpu": "1", "memory": "1Gi"})
    changes = sandbox.up([bigger, NODES[1], extra])
    assert not changes.started
    assert (changes.nodes.created, changes.nodes.changed, changes.nodes.deleted) == (
        ("extra",),
        ("node-a",),
        ("node-c",),
    )
    with sandbox.api() as api:
        node = api.get("/api/v1/nodes/node-a")
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "4"
    assert "old" not in node["metadata"]["labels"]
    assert node["metadata"]["labels"]["new"] == "1"
    assert [taint["key"] for taint in node["spec"]["taints"]] == ["new"]
    assert not sandbox.up([bigger, NODES[1], extra])


def test_nodes_of_an_autoscaler_are_left_alone(new_sandbox: Callable[[], Sandbox]) -> None:
    sandbox = new_sandbox()
    sandbox.up(NODES)
    foreign = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "foreign"}}
    with sandbox.api() as api:
        api.create("/api/v1/nodes", foreign)
        assert not sandbox.up(NODES)
        assert api.find("/api/v1/nodes/foreign") is not None


def test_killed_sandbox_comes_back_with_its_data(new_sandbox: Callable[[], Sandbox]) -> None:
    sandbox = new_sandbox()
    sandbox.up(NODES)
    with sandbox.api() as api:
        name = namespace(api)
        api.create(f"/apis/apps/v1/namespaces/{name}/deployments", deployment("web", 2))
    token = sandbox.token_for("vera@example.com")
    for process in processes_of(sandbox.folder):
        process.kill()
    eventually(lambda: not processes_of(sandbox.folder))
    assert not sandbox.status().running

    changes = sandbox.up(NODES)

    assert "etcd" in changes.started
    with sandbox.api() as api:
        path = f"/apis/apps/v1/namespaces/{name}/deployments/web"
        eventually(lambda: api.get(path)["status"].get("availableReplicas") == 2)
    assert sandbox.token_for("vera@example.com") == token


def test_one_dead_process_is_started_again_alone(new_sandbox: Callable[[], Sandbox]) -> None:
    sandbox = new_sandbox()
    sandbox.up(NODES)
    record = sandbox.processes.running("kube-scheduler")
    assert record
    next(each for each in processes_of(sandbox.folder) if each.pid == record.pid).kill()
    eventually(lambda: sandbox.processes.running("kube-scheduler") is None)
    assert sandbox.up(NODES).started == ("kube-scheduler",)


def test_two_sandboxes_run_at_once(new_sandbox: Callable[[], Sandbox]) -> None:
    first, second = new_sandbox(), new_sandbox()
    first.up(NODES)
    second.up(NODES[:1])
    assert len(first.status().nodes) == 3
    assert len(second.status().nodes) == 1
    second.down()
    assert first.status().running


def test_down_leaves_no_process_and_no_folder(new_sandbox: Callable[[], Sandbox]) -> None:
    sandbox = new_sandbox()
    sandbox.up(NODES)
    assert processes_of(sandbox.folder)
    assert sandbox.down()
    assert not processes_of(sandbox.folder)
    assert not sandbox.folder.exists()
    assert not sandbox.layout.runtime.exists()
    assert not sandbox.down()


def test_down_keeping_data_is_undone_by_up(new_sandbox: Callable[[], Sandbox]) -> None:
    sandbox = new_sandbox()
    sandbox.up(NODES)
    with sandbox.api() as api:
        name = namespace(api)
    sandbox.down(keep_data=True)
    assert not processes_of(sandbox.folder)
    sandbox.up(NODES)
    with sandbox.api() as api:
        assert api.find(f"/api/v1/namespaces/{name}") is not None


def test_port_in_use_is_one_clear_error_and_nothing_starts(new_sandbox: Callable[[], Sandbox]) -> None:
    sandbox = new_sandbox()
    sandbox.up(NODES)
    sandbox.down(keep_data=True)
    port = ports.remembered(sandbox.layout.ports)["kube-apiserver"]
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", port))
        squatter.listen()
        with pytest.raises(FlotillaError, match=f"port {port} of kube-apiserver is in use") as caught:
            sandbox.up(NODES)
        assert "--new-ports" in str(caught.value)
        assert not processes_of(sandbox.folder)
        sandbox.up(NODES, new_ports=True)
    assert ports.remembered(sandbox.layout.ports)["kube-apiserver"] != port


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("waiting_for", ["etcd", "kube-controller-manager"])
def test_interrupted_up_leaves_no_process(
    new_sandbox: Callable[[], Sandbox], tools: Path, stop: signal.Signals, waiting_for: str
) -> None:
    sandbox = new_sandbox()
    program = f"""
        from pathlib import Path
        from sandbox.cluster import Sandbox
        from sandbox.nodes import Node
        nodes = [Node(name="never", zone="a", capacity={{"cpu": "1", "memory": "1Gi"}})]
        Sandbox({sandbox.name!r}, Path({str(sandbox.folder)!r}), tools=Path({str(tools)!r})).up(nodes)
    """
    starting = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, stderr=subprocess.DEVNULL)
    eventually(lambda: sandbox.processes.running(waiting_for) is not None)
    starting.send_signal(stop)
    assert starting.wait(timeout=60) != 0
    assert not processes_of(sandbox.folder)


def test_process_that_ends_while_starting_is_named_with_its_last_words(
    tools: Path, tmp_path: Path, new_sandbox: Callable[[], Sandbox]
) -> None:
    broken = tmp_path / "tools"
    broken.mkdir()
    for tool in tools.iterdir():
        (broken / tool.name).symlink_to(tool)
    (broken / "etcd").unlink()
    (broken / "etcd").write_text("#!/bin/sh\necho 'fatal: no quorum today' >&2\nexit 3\n")
    (broken / "etcd").chmod(0o755)
    whole = new_sandbox()
    sandbox = Sandbox(whole.name, whole.folder, tools=broken)
    with pytest.raises(FlotillaError, match="etcd ended while starting: fatal: no quorum today"):
        sandbox.up(NODES)
    assert not processes_of(sandbox.folder)


def test_full_disk_is_one_clear_error(tools: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        sandbox = Sandbox("small", disk / "small", tools=tools)
        with pytest.raises(FlotillaError, match=r"the disk is full: 1[0-9] MiB free"):
            sandbox.up(NODES)
        (disk / "filler").write_bytes(b"\0" * shutil.disk_usage(disk).free)
        with pytest.raises(FlotillaError, match="the disk is full"):
            sandbox.up(NODES)
        assert not sandbox.folder.exists()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_folder_that_cannot_be_made_is_one_clear_error(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FlotillaError, match=r"file.*: cannot be written: "):
        Sandbox("small", tmp_path / "file" / "small", tools=tools).up(NODES)


def test_simulated_pod_has_no_log(new_sandbox: Callable[[], Sandbox]) -> None:
    sandbox = new_sandbox()
    sandbox.up(NODES)
    with sandbox.api() as api:
        name = namespace(api)
        api.create(f"/api/v1/namespaces/{name}/pods", pod("quiet"))
    with pytest.raises(FlotillaError, match="simulated"):
        logs.find(sandbox.layout, f"{name}/quiet")
    assert "Serving" in "".join(logs.last_lines(logs.find(sandbox.layout, "kube-apiserver"), None))
