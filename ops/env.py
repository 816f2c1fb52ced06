"""The `flotilla env` command: what a shell, a script or a test needs to run the engine on this checkout."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infra import paths
from infra.errors import FlotillaError

if TYPE_CHECKING:
    from sandbox.tools import Toolchain


def env(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print shell lines that put the toolchain on PATH: eval "$(flotilla env)"."""
    variables = environment()
    if as_json:
        typer.echo(json.dumps(variables, indent=2))
        return
    for name, value in variables.items():
        typer.echo(f"export {name}={shlex.quote(value)}")


def environment(toolchain: Toolchain | None = None, state: Path | None = None) -> dict[str, str]:
    """Return the variables to add to a process's environment, ready to use.

    Creates what they point to on first use: the engine's home and backend, and a random passphrase.

    Args:
        toolchain: the tools to put on PATH; by default the one already built.
        state: folder that keeps backend, passphrase and kubeconfig; by default this checkout's.

    Raises:
        FlotillaError: the toolchain is not built, or the folder cannot be written.
    """
    from sandbox.tools import Toolchain

    toolchain = toolchain or Toolchain.find()
    state = state or paths.STATE
    try:
        prepare(toolchain, state)
    except OSError as error:
        raise FlotillaError(
            f"cannot keep state here ({error.strerror or error})",
            where=str(error.filename or state),
            remedy="Make the folder writable and free some space",
        ) from error
    return variables(toolchain.bin, state, os.environ.get("PATH", ""))


def variables(tools: Path, state: Path, path: str) -> dict[str, str]:
    """Return the variables for the tools in `tools` and the state in `state`; touches nothing.

    Args:
        tools: folder to put on PATH.
        state: where backend, passphrase and kubeconfig are.
        path: the PATH to extend.
    """
    scripts = Path(sys.prefix) / "bin"
    first = [str(scripts), str(tools)]
    rest = [folder for folder in path.split(os.pathsep) if folder and folder not in first]
    return {
        "PATH": os.pathsep.join([*first, *rest]),
        "KUBECONFIG": str(state / "sandbox" / "kubeconfig"),
        "PULUMI_BACKEND_URL": f"file://{state / 'pulumi'}",
        "PULUMI_CONFIG_PASSPHRASE_FILE": str(state / "passphrase"),
        "PULUMI_HOME": str(state / "pulumi-home"),
        "PULUMI_PYTHON_CMD": str(scripts / "python"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }


def prepare(toolchain: Toolchain, state: Path) -> None:
    """Create what the variables point to, where it is missing."""
    (state / "pulumi").mkdir(parents=True, exist_ok=True)
    _link_plugins(toolchain.plugins, state / "pulumi-home" / "plugins")
    _create_passphrase(state / "passphrase")


def _link_plugins(source: Path, target: Path) -> None:
    """Show the engine the toolchain's plugins in its plugin cache: those on PATH it warns about."""
    for program in source.glob("*/*"):
        link = target / program.parent.name / program.name
        if link.is_symlink() and link.readlink() == program:
            continue
        link.parent.mkdir(parents=True, exist_ok=True)
        fresh = link.with_name(f".{link.name}.{os.getpid()}")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(program)
        fresh.replace(link)


def _create_passphrase(path: Path) -> None:
    if path.exists():
        return
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(32))
        path.hardlink_to(fresh)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
