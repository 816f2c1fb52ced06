"""CRD bundles through the real engine on a real API server, from a module that a mirror folder has."""

from __future__ import annotations

import io
import json
import os
import subprocess
import uuid
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from infra.core.crds.gosum import hash1, zip_path
from infra.core.crds.pins import canonical, fingerprint
from infra.core.crds.properties import BUNDLE_LABEL
from ops.env import environment
from tests.e2e.objects import eventually, namespace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sandbox.cluster import Sandbox

pytestmark = pytest.mark.e2e

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MODULE, VERSION = "example.org/boats", "v1.0.0"
PROJECT = "name: bundled\nruntime: python\n"
PROGRAM = '''
"""Declares the bundle of bundle.json."""

import json
from pathlib import Path

from infra.core.crds.bundle import CrdBundle
from infra.core.crds.pins import CrdSource

declared = json.loads((Path(__file__).parent / "bundle.json").read_text())
CrdBundle("boats", CrdSource(**declared["source"]), **declared["options"])
'''


class Stack:
    """A throw-away stack that declares one bundle of CRDs, in an API group of its own."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.group = f"boats{uuid.uuid4().hex[:6]}.example.org"
        self.boats, self.sails = f"boats.{self.group}", f"sails.{self.group}"
        self._folder = folder
        self._mirror = folder / "mirror"
        self.variables = os.environ | environment(state=folder / "state")
        self.variables["KUBECONFIG"] = str(sandbox.kubeconfig)
        self.variables["FLOTILLA_MIRROR"] = str(self._mirror)
        self.variables["FLOTILLA_CACHE"] = str(folder / "cache")
        self.variables["GOPROXY"] = "off"
        (folder / "Pulumi.yaml").write_text(PROJECT)
        (folder / "__main__.py").write_text(PROGRAM)
        self.succeeds("stack", "init", "test")

    def declare(self, *plurals: str, context: str | None = None, **options: Any) -> None:
        """Declare a bundle of these kinds, and put the module that has them into the mirror."""
        crds = {f"{plural}.{self.group}": self.definition(plural) for plural in plurals}
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            for name, crd in crds.items():
                archive.writestr(f"{MODULE}@{VERSION}/crds/{name}.yaml", canonical(crd))
        with zipfile.ZipFile(content) as archive:
            h1 = hash1(archive)
        mirrored = self._mirror / "go" / zip_path(MODULE, VERSION)
        mirrored.parent.mkdir(parents=True, exist_ok=True)
        mirrored.write_bytes(content.getvalue())
        source = {
            "module": MODULE,
            "version": VERSION,
            "h1": h1,
            "paths": ["crds/*.yaml"],
            "crds": {name: fingerprint(crd) for name, crd in crds.items()},
        }
        declared = {"source": source, "options": {"context": context or self.sandbox.context, **options}}
        (self._folder / "bundle.json").write_text(json.dumps(declared))

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["pulumi", *arguments, "--non-interactive", "--color", "never"]
        return subprocess.run(
            command,
            cwd=self._folder,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def succeeds(self, *arguments: str) -> str:
        done = self.pulumi(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def fails(self, *arguments: str) -> str:
        done = self.pulumi(*arguments)
        printed = done.stdout + done.stderr
        assert done.returncode != 0, printed
        assert "Traceback" not in printed
        return printed

    def live(self, name: str) -> dict[str, Any] | None:
        with self.sandbox.api() as api:
            return api.find(f"{CRDS}/{name}")

    def state(self) -> str:
        return self.succeeds("stack", "export")

    def definition(self, plural: str) -> dict[str, Any]:
        kind = plural.removesuffix("s").capitalize()
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{self.group}"},
            "spec": {
                "group": self.group,
                "names": {"kind": kind, "plural": plural},
                "scope": "Namespaced",
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object", "description": "SCHEMA"}},
                    }
                ],
            },
        }


@pytest.fixture
def stack(tmp_path: Path, sandbox: Sandbox) -> Iterator[Stack]:
    made = Stack(tmp_path, sandbox)
    made.declare("boats", "sails")
    try:
        yield made
    finally:
        with sandbox.api() as api:
            for name in (made.boats, made.sails):
                if api.find(f"{CRDS}/{name}") is not None:
                    api.delete(f"{CRDS}/{name}")


def test_bundle_is_applied_once_and_then_unchanged(stack: Stack) -> None:
    assert "2 to create" in stack.succeeds("preview")
    assert stack.live(stack.boats) is None

    with stack.sandbox.api() as api:
        api.create(CRDS, stack.definition("sails"))
    printed = stack.succeeds("up", "--yes", "--skip-preview")

    assert f"{stack.sails} was there already and is taken over from its owner" in printed
    live = stack.live(stack.boats)
    assert live is not None
    assert live["metadata"]["labels"] == {BUNDLE_LABEL: "boats"}
    assert {manager["manager"] for manager in live["metadata"]["managedFields"]} >= {"flotilla"}
    assert "SCHEMA" not in stack.state()
    stack.succeeds("preview", "--expect-no-changes")
    stack.succeeds("preview", "--refresh", "--expect-no-changes")
    stack.succeeds("up", "--yes", "--skip-preview", "--expect-no-changes")


def test_unchanged_preview_needs_neither_schema_nor_cluster(stack: Stack) -> None:
    stack.succeeds("up", "--yes", "--skip-preview")
    for name in ("KUBECONFIG", "FLOTILLA_MIRROR", "FLOTILLA_CACHE"):
        stack.variables[name] = "/nowhere"

    stack.succeeds("preview", "--expect-no-changes")


def test_drift_shows_by_name_and_is_mended(stack: Stack) -> None:
    stack.succeeds("up", "--yes", "--skip-preview")
    with stack.sandbox.api() as api:
        api.patch(f"{CRDS}/{stack.boats}", {"spec": {"names": {"shortNames": ["bt"]}}})
        api.delete(f"{CRDS}/{stack.sails}")
    eventually(lambda: stack.live(stack.sails) is None)

    shown = stack.succeeds("preview", "--refresh", "--diff")

    assert f'~ {stack.boats}: "sha256:' in shown
    assert '=> "drifted sha256:' in shown
    assert f"- {stack.sails}: " in shown
    assert f"+ {stack.sails}: " in shown

    stack.succeeds("up", "--refresh", "--yes", "--skip-preview")

    boats = stack.live(stack.boats)
    assert boats is not None
    assert "shortNames" not in boats["spec"]["names"]
    assert stack.live(stack.sails) is not None
    stack.succeeds("preview", "--refresh", "--expect-no-changes")


def test_destroy_is_refused_while_custom_resources_exist(stack: Stack) -> None:
    stack.succeeds("up", "--yes", "--skip-preview")
    with stack.sandbox.api() as api:
        team = namespace(api)
        boat = {"apiVersion": f"{stack.group}/v1", "kind": "Boat", "metadata": {"name": "tug"}}
        api.create(f"/apis/{stack.group}/v1/namespaces/{team}/boats", boat)

    refused = stack.fails("destroy", "--yes", "--skip-preview")

    assert f"{stack.boats} (1, for example {team}/tug). Nothing was deleted" in refused
    assert stack.live(stack.boats) is not None
    assert stack.live(stack.sails) is not None

    stack.declare("boats", "sails", destroy_with_data=True)
    stack.succeeds("up", "--yes", "--skip-preview")
    stack.succeeds("destroy", "--yes", "--skip-preview")
    assert stack.live(stack.boats) is None
    assert stack.live(stack.sails) is None


def test_crd_that_leaves_the_bundle_is_removed(stack: Stack) -> None:
    stack.succeeds("up", "--yes", "--skip-preview")

    stack.declare("boats")
    assert f"- {stack.sails}: " in stack.succeeds("preview", "--diff")
    stack.succeeds("up", "--yes", "--skip-preview")

    assert stack.live(stack.boats) is not None
    assert stack.live(stack.sails) is None


def test_context_that_does_not_exist_is_one_clear_line(stack: Stack) -> None:
    stack.declare("boats", context="atlantis")

    failed = stack.fails("up", "--yes", "--skip-preview")

    assert "context atlantis: the kubeconfig " in failed
    assert stack.sandbox.context in failed


def test_missing_permission_is_named_and_nothing_is_applied(stack: Stack) -> None:
    contexts = yaml.safe_load(stack.sandbox.kubeconfig.read_text())["contexts"]
    person = next(entry["name"] for entry in contexts if entry["name"] != stack.sandbox.context)
    stack.declare("boats", "sails", context=person)

    failed = stack.fails("up", "--yes", "--skip-preview")

    assert 'cannot get resource "customresourcedefinitions"' in failed
    assert "Grant get, list, create, patch, update and delete" in failed
    assert stack.live(stack.boats) is None
