"""Finds the upstream release's facts, which lie beside the checkout where there are any."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from infra.paths import ROOT
from infra.versions import KUBEFLOW_RELEASE
from tests.parity.facts import Part

FILE = ROOT.parent / "shared" / "upstream" / f"kubeflow-{KUBEFLOW_RELEASE}.json"
ABSENT = (
    f"parity with Kubeflow {KUBEFLOW_RELEASE} is NOT checked: "
    f"its facts are not in ../{FILE.relative_to(ROOT.parent).as_posix()}"
)

TRAINING = "applications_training-operator_upstream_overlays_kubeflow"
ISTIO = "common_istio_istio-install_overlays_oauth2-proxy"
ROLES = "common_kubeflow-roles_base"


def part(name: str) -> Part:
    """Return one part of the release; skip the test where the release's facts are absent."""
    if not FILE.exists():
        pytest.skip(ABSENT)
    facts = cast("dict[str, Any]", json.loads(FILE.read_text(encoding="utf-8")))["parts"][name]
    return Part(**{key: facts[key] for key in Part.__dataclass_fields__ if key in facts})
