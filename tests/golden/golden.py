"""Golden files: one per environment, every object it declares, and its custom resource definitions by digest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from infra.settings import load
from ops.manifests import render
from ops.tree import dump

if TYPE_CHECKING:
    from ops.manifests import Manifest

FOLDER = Path(__file__).parent

_HEADER = """\
# What the environment {environment} declares. Written by `make golden`; change the declaration, not this file.
# Custom resource definitions stand here as name and digest: their schemas are their makers'.
"""


def path_of(environment: str, folder: Path = FOLDER) -> Path:
    """Return the environment's golden file."""
    return folder / f"{environment}.yaml"


def text(environment: str) -> str:
    """Return what the environment's golden file should say; needs neither cluster nor network."""
    rendered = render(load(environment))
    bundles = [_bundle(name, declared) for name, declared in rendered.bundles.items()]
    documents = "---\n".join(dump(manifest) for manifest in [*rendered.objects, *bundles])
    return f"{_HEADER.format(environment=environment)}{documents}"


def _bundle(name: str, declared: Manifest) -> Manifest:
    source = declared["source"]
    return {
        "kind": "CrdBundle",
        "metadata": {"name": name},
        "source": f"{source['module']}@{source['version']}",
        "crds": declared["crds"],
    }
