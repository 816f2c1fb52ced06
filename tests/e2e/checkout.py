"""A copy of the checkout for end-to-end tests that break something in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import yaml

from infra.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PARTS = ("examples", "infra", "ops", "policies", "requirements", "sandbox", "stacks", "values", "Pulumi.yaml")
SECONDS = 120

Done = subprocess.CompletedProcess[str]


class Checkout:
    """The product's files in a folder of their own, and its commands run there.

    Args:
        folder: an empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / ".flotilla"
        self.variables = os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "200"}
        skipped = shutil.ignore_patterns("__pycache__", "Pulumi.local.yaml")
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, folder / part, ignore=skipped)
            else:
                shutil.copy2(source, folder / part)

    def flotilla(self, *arguments: str, within: Sequence[str] = ()) -> Done:
        """Run `flotilla`, inside another command if one is given."""
        return self._run([*within, sys.executable, "-m", "ops.cli", *arguments])

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `flotilla`, to be interrupted."""
        return subprocess.Popen(
            [sys.executable, "-m", "ops.cli", *arguments],
            cwd=self.folder,
            env=self.variables,
            stderr=subprocess.PIPE,
            text=True,
        )

    def enter(self) -> None:
        """Take over what `eval "$(flotilla env)"` sets."""
        self.variables |= json.loads(self.flotilla("env", "--json").stdout)

    def change(self, file: str, old: str, new: str) -> int:
        """Change a file at the first place that says `old`; return the line."""
        path = self.folder / file
        before, found, after = path.read_text().partition(old)
        assert found, f"{file} does not say {old}"
        path.write_text(before + new + after)
        return before.count("\n") + 1

    def pulumi(self, *arguments: str) -> Done:
        """Run the engine as plain `pulumi` after `eval "$(flotilla env)"`."""
        return self._run(["pulumi", *arguments, "--non-interactive", "--color", "never"])

    def use_cluster(self, context: str, server: str) -> None:
        """Point KUBECONFIG to a file with one context, not the current one, and the stack `local` to that context."""
        kubeconfig = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "its", "cluster": {"server": server}}],
            "users": [{"name": "its", "user": {"token": "none"}}],
            "contexts": [{"name": context, "context": {"cluster": "its", "user": "its"}}],
        }
        path = self.folder / "kubeconfig"
        path.write_text(yaml.safe_dump(kubeconfig))
        self.variables["KUBECONFIG"] = str(path)
        stack = {"config": {"flotilla:context": context}}
        (self.folder / "stacks" / "Pulumi.local.yaml").write_text(yaml.safe_dump(stack))

    def _run(self, command: Sequence[str]) -> Done:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
