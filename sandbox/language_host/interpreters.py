"""Which Python runs a program: that of its virtual environment, else the one the host was told."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pulumi.runtime.proto import language_pb2


class UnusableInterpreterError(Exception):
    """The program's runtime options name a Python that cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Interpreter:
    """A Python, and the virtual environment it belongs to, if the options named one."""

    python: Path
    virtualenv: Path | None = None

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return `base` with the virtual environment activated."""
        if self.virtualenv is None:
            return dict(base)
        path = os.pathsep.join((str(self.virtualenv / "bin"), base.get("PATH", os.defpath)))
        kept = {name: value for name, value in base.items() if name != "PYTHONHOME"}
        return kept | {"PATH": path, "VIRTUAL_ENV": str(self.virtualenv)}


def of(info: language_pb2.ProgramInfo) -> Interpreter:
    """Return the Python for the program that `info` describes.

    Raises:
        UnusableInterpreterError: the virtual environment is missing, or the toolchain is not known here.
    """
    virtualenv = virtualenv_of(info)
    if virtualenv is None:
        return Interpreter(default())
    python = virtualenv / "bin" / "python"
    if not python.exists():
        raise UnusableInterpreterError(
            f"{virtualenv} is not a virtual environment. Create it with `python3 -m venv {virtualenv}` and "
            "install the program's packages, or run `pulumi install`"
        )
    return Interpreter(python, virtualenv)


def virtualenv_of(info: language_pb2.ProgramInfo) -> Path | None:
    """Return the virtual environment that the runtime options name, whether it exists or not.

    Raises:
        UnusableInterpreterError: the options name a toolchain that is not known here.
    """
    options = dict(info.options)
    toolchain = str(options.get("toolchain") or "pip")
    if toolchain not in ("pip", "uv"):
        raise UnusableInterpreterError(
            f"the runtime option toolchain={toolchain} needs the official pulumi-language-python. Install "
            "Pulumi, or name the virtual environment with the option virtualenv"
        )
    named = options.get("virtualenv") or (".venv" if toolchain == "uv" else None)
    return Path(info.root_directory) / str(named) if named else None


def default() -> Path:
    """Return `PULUMI_PYTHON_CMD`, else Python on PATH, else the Python running the host."""
    for name in (os.environ.get("PULUMI_PYTHON_CMD"), "python3", "python"):
        if name and (found := shutil.which(name)):
            return Path(found)
    return Path(sys.executable)
