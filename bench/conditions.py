"""Finds out where and with what it is measured."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from bench.report import Conditions

if TYPE_CHECKING:
    from sandbox.tools import Toolchain

_CPU_INFO = Path("/proc/cpuinfo")
_GIB = 2**30


def conditions(command: str, toolchain: Toolchain) -> Conditions:
    """Return the conditions of a run that begins now.

    Args:
        command: what was run, as the report shows it.
        toolchain: the programs.
    """
    return Conditions(
        command=command,
        when=datetime.now(UTC),
        processor=_processor(),
        cores=os.cpu_count() or 1,
        memory_gib=psutil.virtual_memory().total / _GIB,
        load=os.getloadavg()[0],
        versions={
            "Pulumi": _output(toolchain, "pulumi", "version").removeprefix("v"),
            "pulumi-kubernetes": metadata.version("pulumi-kubernetes"),
            "Kubernetes": _output(toolchain, "kube-apiserver", "--version").removeprefix("Kubernetes v"),
            "kubectl": json.loads(_output(toolchain, "kubectl", "version", "--client", "--output=json"))[
                "clientVersion"
            ]["gitVersion"].removeprefix("v"),
            "Python": platform.python_version(),
        },
    )


def _processor() -> str:
    lines = _CPU_INFO.read_text(encoding="utf-8").splitlines() if _CPU_INFO.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _output(toolchain: Toolchain, tool: str, *arguments: str) -> str:
    command = [str(toolchain.path(tool)), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
