"""The rules over every environment as it is really declared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import policies

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


def _manifests(environment: Path) -> list[dict[str, Any]]:
    files = sorted(environment.rglob("*.yaml")) if environment.is_dir() else [environment]
    documents = [document for file in files for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))]
    return [document for document in documents if document]


ENVIRONMENTS = sorted(path for path in GOLDEN.iterdir() if path.suffix == ".yaml" or any(path.rglob("*.yaml")))


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda path: path.stem)
def test_environment_meets_every_rule(environment: Path) -> None:
    assert [str(violation) for violation in policies.check(_manifests(environment))] == []


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda path: path.stem)
def test_environment_claims_no_exemption_it_does_not_need(environment: Path) -> None:
    assert [waiver for waiver in policies.waivers(_manifests(environment)) if not waiver.rules] == []
