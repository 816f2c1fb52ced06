"""What the doctor, run as people run it, says of the jobs on a test's cluster."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import yaml

from infra.paths import VALUES
from tests.e2e.node_pools import settings

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.api import Json
    from tests.e2e.node_pools import Pools
    from tests.e2e.platform import Platform


def diagnose(platform: Platform, environment: str, values: Path) -> dict[str, Json]:
    """Return the findings about the cluster's parts, such as `PyTorchJob team/name`, by what they concern.

    Args:
        platform: the cluster.
        environment: the environment that describes it.
        values: the folder of its values.
    """
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ops.cli", "doctor", environment, "--values", str(values)),
            *("--context", platform.sandbox.context, "--only", "cluster", "--json"),
        ],
        env=platform.variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    found: list[Json] = json.loads(done.stdout)["findings"]
    assert not [each for each in found if each["what"].startswith("no answer within")], done.stderr
    assert all(each["why"] and each["run"] for each in found if each["status"] in ("warn", "fail"))
    prefix = f"cluster {platform.sandbox.context} "
    return {each["subject"].removeprefix(prefix): each for each in found if each["subject"].startswith(prefix)}


def diagnose_pools(pools: Pools, folder: Path) -> dict[str, Json]:
    """Return the findings about jobs and pods in the tests' namespace, by kind and name.

    Args:
        pools: the tests' cluster with node pools.
        folder: a folder for the values that describe it.
    """
    folder.mkdir(exist_ok=True)
    shutil.copy(VALUES / "base.yaml", folder)
    values: Json = yaml.safe_load((VALUES / "local.yaml").read_text())
    values["cluster"] |= settings()
    (folder / "pools.yaml").write_text(yaml.safe_dump(values))
    found = diagnose(pools, "pools", folder)
    return {subject.replace(f"{pools.namespace}/", ""): each for subject, each in found.items()}
