"""A sandbox: a real control plane on this machine, with simulated nodes and, where possible, real pods."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infra.errors import FlotillaError
from infra.paths import STATE
from sandbox import agent_process, nodes, ports
from sandbox.api import ApiClient
from sandbox.certificates import Pki
from sandbox.commands import WAVES, waves
from sandbox.control_plane import ADMIN, CLUSTER_CA, PORTS, ControlPlane, ensure_certificates
from sandbox.files import exclusive, require_space, storage_errors, write_private
from sandbox.interrupts import deferred
from sandbox.layout import Layout
from sandbox.outside import OutsideHosts
from sandbox.processes import Command, ProcessTable
from sandbox.status import Status, inspect
from sandbox.tools import Progress, Silent, Toolchain
from sandbox.users import User, UserStore

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_NAME = "sandbox"
DEFAULT_CONTEXT = "flotilla-local"

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")

_NEEDED_MEBIBYTES = 400
_START_TIMEOUT_SECONDS = 180.0
_STEPS = WAVES + 1

_STOP_WAVES: tuple[tuple[tuple[str, ...], float], ...] = (
    (("agent",), 20.0),
    (("kwok", "kube-scheduler", "kube-controller-manager"), 5.0),
    (("kube-apiserver",), 2.0),
    (("etcd",), 10.0),
)
"""Those first that need others, each with the seconds it gets. An API server alone has nothing to save."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What `up` did.

    Args:
        started: the processes it started.
        nodes: the nodes it created, changed and deleted.

    """

    started: tuple[str, ...] = ()
    nodes: nodes.NodeChanges = field(default_factory=nodes.NodeChanges)

    def __bool__(self) -> bool:
        """Return whether anything was done at all."""
        return bool(self.started or self.nodes.created or self.nodes.changed or self.nodes.deleted)


class Sandbox:
    """A cluster in a folder. It outlives the program that started it; `up` finds it again.

    Owns its folder, its folder for sockets and the processes it started. Leaves other kubeconfigs alone.

    Args:
        name: name of the state folder, and so of the sandbox.
        folder: the state folder; `.flotilla/<name>` of this checkout when left out.
        tools: folder of the programs; built when needed, and left out.
        context: name of the administrator's kubeconfig context.

    """

    def __init__(
        self,
        name: str = DEFAULT_NAME,
        folder: Path | None = None,
        *,
        tools: Path | None = None,
        context: str | None = None,
    ) -> None:
        if not _NAME.fullmatch(name):
            raise FlotillaError("not a name", where=name, remedy="Use lower-case letters, digits and hyphens")
        self.name = name
        self.layout = Layout((folder or STATE / name).absolute())
        self.context = context or (DEFAULT_CONTEXT if name == DEFAULT_NAME else f"flotilla-{name}")
        self.processes = ProcessTable(self.layout.folder, self.layout.records, self.layout.logs)
        self._tools = tools
        self._pki = Pki(self.layout.pki)

    @property
    def folder(self) -> Path:
        """The state folder."""
        return self.layout.folder

    @property
    def kubeconfig(self) -> Path:
        """Kubeconfig with the administrator's context and one for each user."""
        return self.layout.kubeconfig

    def up(
        self,
        wanted: Sequence[nodes.Node],
        *,
        users: Sequence[User] = (),
        progress: Progress | None = None,
        new_ports: bool = False,
    ) -> Changes:
        """Start what does not run, and bring the nodes in line. Does nothing when all is as wanted.

        Args:
            wanted: the machines of the cluster.
            users: who gets a token and a context, besides those who have one already.
            progress: is told of each step.
            new_ports: forget the remembered ports and choose free ones.

        Raises:
            FlotillaError: a port is in use, a process ended at start, the disk is full and the like.
                What this call started has been ended again.
            KeyboardInterrupt: after Ctrl-C or SIGTERM, with the same promise.

        """
        progress = progress or Silent()
        tools = self._tools or Toolchain.ensure(progress).bin
        with storage_errors(self.folder), exclusive(self.layout.lock), deferred() as check:
            self._open()
            started: list[str] = []
            try:
                control_plane = self._prepare(tools, users, new_ports=new_ports)
                self._start(control_plane, tools, started, progress, check)
                changes = self._bring_nodes_in_line(wanted, progress, check, patient=bool(started))
                check()
            except BaseException:
                self._stop(started)
                if not self._running():
                    shutil.rmtree(self.layout.runtime, ignore_errors=True)
                raise
            return Changes(started=tuple(started), nodes=changes)

    def down(self, *, keep_data: bool = False) -> bool:
        """End every process and remove the state folder; return whether there was anything.

        Args:
            keep_data: keep the folder, so that the next `up` finds the cluster as it was.

        """
        if not self.folder.exists() and not self.layout.runtime.exists():
            return False
        with storage_errors(self.folder), exclusive(self.layout.lock), deferred():
            self.layout.require_ours()
            self._stop(self.processes.names())
            self.processes.stop_strays()
            shutil.rmtree(self.layout.runtime, ignore_errors=True)
            if not keep_data:
                shutil.rmtree(self.folder)
        return True

    def status(self) -> Status:
        """Return what runs, where, and what is simulated."""
        api = None
        if self.processes.running("kube-apiserver") and self.layout.ports.exists():
            api = self.api(timeout_seconds=5.0)
        return inspect(self.name, self.layout, self.processes, api, self.context)

    def api(self, *, token: str | None = None, timeout_seconds: float = 30.0) -> ApiClient:
        """Return a client of the API server: an administrator, or the user whose token is given."""
        return ApiClient(
            self._control_plane().server,
            authority=self._pki.certificate(CLUSTER_CA),
            certificate=None if token else self._pki.certificate(ADMIN),
            key=None if token else self._pki.key(ADMIN),
            token=token,
            timeout_seconds=timeout_seconds,
        )

    @property
    def outside(self) -> dict[str, int]:
        """Servers outside that process pods reach: the local port behind each `host:port`."""
        return OutsideHosts.read(self.layout.outside).places

    @outside.setter
    def outside(self, places: Mapping[str, int]) -> None:
        """Lead process pods to servers on this machine, from now on and after a restart; others lead nowhere.

        Raises:
            FlotillaError: a name is no `host:port`.
        """
        with storage_errors(self.folder), exclusive(self.layout.lock):
            self._open()
            OutsideHosts.read(self.layout.outside).mapped(places).write(self.layout.outside)

    def token_for(self, name: str, groups: Sequence[str] = ()) -> str:
        """Return a user's token; a new user, or new groups, restart the API server, which takes some seconds.

        Users given to `up` cost no restart.
        """
        user = User(name=name, groups=tuple(groups))
        store = self._users()
        if user not in store.tokens():
            tools = self._tools or agent_process.tools_folder(self.folder)
            with storage_errors(self.folder), exclusive(self.layout.lock), deferred() as check:
                self._open()
                control_plane = self._prepare(tools, [user], new_ports=False)
                if self.processes.running("kube-apiserver"):
                    self._start(control_plane, tools, [], Silent(), check)
        return store.tokens()[user]

    def _users(self) -> UserStore:
        return UserStore(self.layout.users, self.layout.config / "tokens.csv")

    def _control_plane(self) -> ControlPlane:
        return ControlPlane(self.layout, self._pki, ports.remembered(self.layout.ports))

    def _running(self) -> list[str]:
        return [name for name in self.processes.names() if self.processes.running(name)]

    def _open(self) -> None:
        """Create the folder, unless it is somebody else's or would have no room."""
        self.layout.require_ours()
        if not self._running():
            require_space(self.folder, _NEEDED_MEBIBYTES)
        self.layout.create()

    def _prepare(self, tools: Path, users: Sequence[User], *, new_ports: bool) -> ControlPlane:
        running = self._running()
        if not running:
            self.processes.stop_strays()
            if new_ports:
                self.layout.ports.unlink(missing_ok=True)
        elif new_ports:
            raise FlotillaError(
                "the sandbox is running, so its ports stay",
                where=self.name,
                remedy="Run `flotilla sandbox down --keep-data` first",
            )
        in_use = {*running, *(("etcd-peer",) if "etcd" in running else ())}
        chosen = ports.allocate(self.layout.ports, PORTS, in_use)
        if ensure_certificates(self._pki):
            self._stop(running)
        store = self._users()
        store.ensure(users)
        control_plane = ControlPlane(self.layout, self._pki, chosen)
        control_plane.write_configuration()
        write_private(self.layout.description, agent_process.describe(control_plane, tools=tools))
        write_private(self.kubeconfig, control_plane.people_kubeconfig(self.context, store.tokens()))
        return control_plane

    def _start(
        self,
        control_plane: ControlPlane,
        tools: Path,
        started: list[str],
        progress: Progress,
        check: Callable[[], None],
    ) -> None:
        """Start what is not running as it should, in waves that need one another; note what was started."""
        with self.api() as api:
            for index, wave in enumerate(waves(control_plane, tools, api), start=1):
                missing = [command for command in wave if not self._runs_as_wanted(command)]
                if not missing:
                    continue
                names = [command.name for command in missing]
                self._stop(names)
                with progress.step(", ".join(names), index, _STEPS):
                    for command in missing:
                        check()
                        started.append(command.name)
                        self.processes.start(command)
                    self.processes.wait_ready(missing, timeout_seconds=_START_TIMEOUT_SECONDS, check=check)

    def _bring_nodes_in_line(
        self, wanted: Sequence[nodes.Node], progress: Progress, check: Callable[[], None], *, patient: bool
    ) -> nodes.NodeChanges:
        with self.api() as api:
            changes = nodes.reconcile(api, wanted)
            if patient or changes.created:
                with progress.step(f"{len(wanted)} nodes", _STEPS, _STEPS):
                    _wait(lambda: nodes.ready(api, wanted), "the nodes do not become ready", check)
        return changes

    def _runs_as_wanted(self, command: Command) -> bool:
        record = self.processes.running(command.name)
        return record is not None and record.fingerprint == command.fingerprint()

    def _stop(self, names: Sequence[str]) -> None:
        """End processes, those first that depend on others."""
        for wave, grace_seconds in _STOP_WAVES:
            if chosen := [name for name in wave if name in names]:
                self.processes.stop(chosen, grace_seconds=grace_seconds)


def _wait(condition: Callable[[], bool], failure: str, check: Callable[[], None]) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_SECONDS
    while not condition():
        check()
        if time.monotonic() > deadline:
            raise FlotillaError(failure, remedy="Look at `flotilla sandbox logs`")
        time.sleep(0.1)
