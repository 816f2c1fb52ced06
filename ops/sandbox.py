"""The `flotilla sandbox` commands: a real Kubernetes control plane on this machine, without containers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ops.console import err, out

if TYPE_CHECKING:
    from sandbox.cluster import Changes, Sandbox
    from sandbox.status import Status

app = typer.Typer(no_args_is_help=True, help="Start, look at and end the embedded cluster.")

Name = Annotated[str, typer.Option("--name", help="Which sandbox; several can run at once.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

DEFAULT = "sandbox"


@app.command()
def up(
    name: Name = DEFAULT,
    environment: Annotated[str, typer.Option("--env", help="Environment whose nodes and people it has.")] = "local",
    new_ports: Annotated[bool, typer.Option("--new-ports", help="Choose new local ports.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start what does not run, and bring nodes in line with the settings."""
    from infra.settings import load
    from ops.progress import ConsoleProgress
    from sandbox import demand, nodes, users
    from sandbox.cluster import Sandbox
    from sandbox.tools import Toolchain

    settings = load(environment)
    tools = Toolchain.ensure(ConsoleProgress("building"), wanted=demand.modules(settings)).bin
    sandbox = Sandbox(name, tools=tools)
    changes = sandbox.up(
        nodes.from_settings(settings),
        users=users.from_settings(settings),
        progress=ConsoleProgress("starting"),
        new_ports=new_ports,
    )
    err.print(_told(changes), markup=False)
    _show(sandbox.status(), as_json=as_json)


@app.command()
def down(
    name: Name = DEFAULT,
    keep_data: Annotated[bool, typer.Option("--keep-data", help="Keep the cluster's data for the next `up`.")] = False,
) -> None:
    """End every process of the sandbox and remove its state."""
    from sandbox.cluster import Sandbox

    existed = Sandbox(name).down(keep_data=keep_data)
    if not existed:
        err.print(f"sandbox {name} does not exist: nothing to end", markup=False)
    elif keep_data:
        err.print(f"sandbox {name} has ended; its data is kept for the next `up`", markup=False)
    else:
        err.print(f"sandbox {name} has ended and is removed", markup=False)


@app.command()
def status(name: Name = DEFAULT, as_json: AsJson = False) -> None:
    """Show processes, nodes, and which pods are real; exits with 1 when something does not run."""
    from sandbox.cluster import Sandbox

    current = Sandbox(name).status()
    _show(current, as_json=as_json)
    if not current.running:
        raise typer.Exit(1)


@app.command()
def logs(
    target: Annotated[
        str | None,
        typer.Argument(metavar="[PROCESS | NAMESPACE/POD]", help="Whose log; without it, the choices."),
    ] = None,
    container: Annotated[str | None, typer.Option("--container", "-c", help="Container of the pod.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
    lines: Annotated[int | None, typer.Option("--tail", "-n", min=0, help="Only the last lines.")] = None,
    name: Name = DEFAULT,
) -> None:
    """Print the log of a control plane process, or of a pod that runs as a process."""
    from sandbox import logs as files

    sandbox = _existing(name)
    if target is None:
        for choice in files.available(sandbox.layout):
            out.print(choice, markup=False)
        return
    log = files.find(sandbox.layout, target, container)
    for line in files.last_lines(log, lines):
        sys.stdout.write(line)
    if follow:
        for text in files.follow(log):
            sys.stdout.write(text)
            sys.stdout.flush()


@app.command()
def token(
    user: Annotated[str, typer.Argument(help="The user's name, usually an email address.")],
    group: Annotated[list[str] | None, typer.Option("--group", help="A group of the user; repeatable.")] = None,
    name: Name = DEFAULT,
) -> None:
    """Print a user's bearer token; a new user costs a restart of the API server."""
    typer.echo(_existing(name).token_for(user, tuple(group or ())))


@app.command()
def outside(
    servers: Annotated[
        list[str] | None,
        typer.Argument(metavar="[HOST:PORT=LOCAL_PORT]...", help="Servers to lead to; without any, those there are."),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Forget those there are first.")] = False,
    name: Name = DEFAULT,
) -> None:
    """Lead process pods that connect to a name to a server on this machine's loopback address."""
    sandbox = _existing(name)
    if servers or clear:
        sandbox.outside = ({} if clear else sandbox.outside) | dict(map(_led, servers or ()))
    for place, port in sandbox.outside.items():
        out.print(f"{place} -> 127.0.0.1:{port}", markup=False)


def _led(text: str) -> tuple[str, int]:
    from infra.errors import FlotillaError

    place, _, port = text.partition("=")
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise FlotillaError("names no local port", where=text, remedy="Write one such as db.example.com:3306=3306")
    return place, int(port)


def _existing(name: str) -> Sandbox:
    from infra.errors import FlotillaError
    from sandbox.cluster import Sandbox

    sandbox = Sandbox(name)
    if not sandbox.folder.exists():
        raise FlotillaError("no such sandbox", where=name, remedy="Start it with `flotilla sandbox up`")
    return sandbox


def _told(changes: Changes) -> str:
    if not changes:
        return "the sandbox is running as wanted: nothing changed"
    counts = (
        ("started", changes.started),
        ("nodes created", changes.nodes.created),
        ("nodes changed", changes.nodes.changed),
        ("nodes deleted", changes.nodes.deleted),
    )
    return "sandbox is ready: " + ", ".join(f"{len(names)} {what}" for what, names in counts if names).replace(
        "started", "processes started"
    )


def _show(current: Status, *, as_json: bool) -> None:
    if as_json:
        out.print_json(json.dumps(current.to_json()))
        return
    from rich.table import Table

    table = Table("process", "pid", "port", "uptime", box=None, pad_edge=False)
    for process in current.processes:
        uptime = "not running" if process.uptime_seconds is None else _duration(process.uptime_seconds)
        table.add_row(process.name, str(process.pid or ""), str(process.port or ""), uptime)
    out.print(table)
    if current.server is None:
        return
    out.print()
    table = Table("node", "zone", "state", "cpu", "memory", "GPUs", box=None, pad_edge=False)
    for node in current.nodes:
        capacity = node.capacity
        gpus = capacity.get("nvidia.com/gpu", "")
        state = "Ready" if node.ready else "NotReady"
        table.add_row(node.name, node.zone, state, capacity.get("cpu"), capacity.get("memory"), gpus)
    out.print(table)
    out.print()
    out.print(
        f"pods        {current.real_pods} real processes, {current.simulated_pods} simulated,"
        f" {current.pending_pods} without a node",
        markup=False,
    )
    if current.only_simulated_because:
        out.print(f"            no pod can be a process here: {current.only_simulated_because}", markup=False)
    out.print(
        f"volumes     {current.simulated_volumes} simulated: folders of this machine, in place of what drivers make;"
        f" {current.pending_claims} claims without one",
        markup=False,
    )
    out.print(f"server      {current.server}", markup=False)
    out.print(f"kubeconfig  {current.kubeconfig} (context {current.context})", markup=False)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
