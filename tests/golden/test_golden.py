"""What every environment declares is what was reviewed, and nothing else, each time."""

from __future__ import annotations

import os
import subprocess
import sys
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.paths import ROOT
from infra.settings import environments
from tests.golden import rewrite as module
from tests.golden.golden import FOLDER, path_of, text

ENVIRONMENTS = environments()
SHOWN = 200
"""Lines of a difference that are shown; a longer one is better read with git."""

every = pytest.mark.parametrize("environment", ENVIRONMENTS)


def objects(environment: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path_of(environment).read_text(encoding="utf-8")))


@every
def test_environment_declares_what_was_reviewed(environment: str) -> None:
    golden = path_of(environment)
    reviewed = golden.read_text(encoding="utf-8") if golden.exists() else ""
    difference = list(
        unified_diff(
            reviewed.splitlines(),
            text(environment).splitlines(),
            f"tests/golden/{golden.name}",
            f"{environment}, as declared",
            lineterm="",
        )
    )

    if difference:
        more = f"\n... and {len(difference) - SHOWN} lines more" if len(difference) > SHOWN else ""
        shown = "\n".join(difference[:SHOWN])
        pytest.fail(f"{shown}{more}\n\nRun `make golden` if you meant it.", pytrace=False)


def test_there_is_one_golden_file_for_each_environment() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.yaml")) == ENVIRONMENTS


def test_rewriting_removes_what_is_gone_and_leaves_alone_what_is_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "environments", lambda: ["sea", "land"])
    monkeypatch.setattr(module, "text", str.upper)
    (tmp_path / "land.yaml").write_text("LAND")
    (tmp_path / "gone.yaml").touch()

    assert module.rewrite(tmp_path) == ["removed gone.yaml", "wrote sea.yaml"]
    assert module.rewrite(tmp_path) == []
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"sea.yaml": "SEA", "land.yaml": "LAND"}


def test_every_process_renders_the_same_bytes(tmp_path: Path) -> None:
    rendered: list[dict[str, bytes]] = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        command = [sys.executable, "-m", "tests.golden.rewrite", str(folder)]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)
        rendered.append({path.name: path.read_bytes() for path in folder.iterdir()})

    assert rendered[0].keys() == {f"{environment}.yaml" for environment in ENVIRONMENTS}
    assert rendered[0] == rendered[1]


@every
def test_no_golden_file_holds_secret_data(environment: str) -> None:
    for manifest in objects(environment):
        if manifest["kind"] == "Secret":
            values = {**manifest.get("data", {}), **manifest.get("stringData", {})}.values()
            assert set(values) <= {"(secret)"}, manifest["metadata"]["name"]


@every
def test_schemas_stand_as_digests(environment: str) -> None:
    bundles = [manifest for manifest in objects(environment) if manifest["kind"] == "CrdBundle"]

    assert "CustomResourceDefinition" not in {manifest["kind"] for manifest in objects(environment)}
    assert bundles
    for bundle in bundles:
        assert all(digest.startswith("sha256:") for digest in bundle["crds"].values())
