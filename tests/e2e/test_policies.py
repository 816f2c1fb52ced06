"""The policy pack in the real engine, with the real Kubernetes provider, over a program that breaks each rule."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infra.paths import POLICIES
from ops.env import environment
from policies.rules import RULES, STACK_RULES
from tests.policies.objects import (
    REMOVED,
    Object,
    budget,
    changed,
    config_map,
    deployment,
    role,
    secret,
    with_container,
    with_pod,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

pytestmark = pytest.mark.e2e

PROJECT = "name: judged\nruntime: python\n"
PROGRAM = '''
"""Declares the objects of objects.json; the provider writes them to a folder instead of a cluster."""

import json
from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s

here = Path(__file__).parent
provider = k8s.Provider("rendered", render_yaml_to_directory=str(here / "rendered"))
for declared in json.loads((here / "objects.json").read_text()):
    group, _, version = declared["apiVersion"].rpartition("/")
    token = f"kubernetes:{group or 'core'}/{version}:{declared['kind']}"
    name = declared["metadata"]["name"]
    pulumi.CustomResource(token, name, declared, pulumi.ResourceOptions(provider=provider))
'''


class Stack:
    """A throw-away stack of a program that declares the given objects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables = os.environ | environment(state=folder / "state")
        del self.variables["KUBECONFIG"]
        (folder / "Pulumi.yaml").write_text(PROJECT)
        (folder / "__main__.py").write_text(PROGRAM)
        self.pulumi("stack", "init", "judged")

    def declare(self, objects: Sequence[Mapping[str, Any]]) -> None:
        (self.folder / "objects.json").write_text(json.dumps(objects))

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["pulumi", *arguments, "--non-interactive", "--color", "never"]
        return subprocess.run(
            command, cwd=self.folder, env=self.variables, capture_output=True, text=True, check=False, timeout=300
        )

    def judged(self, command: str = "preview") -> subprocess.CompletedProcess[str]:
        return self.pulumi(command, "--policy-pack", str(POLICIES), *(["--yes"] if command == "up" else []))


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    return Stack(tmp_path)


def _named(manifest: Object, name: str) -> Object:
    """Return the object under a name of its own, its pods too, so that rules across objects see it alone."""
    labels = {"app.kubernetes.io/name": name}
    copy = changed(manifest, metadata__name=name)
    if copy["kind"] != "Deployment":
        return copy
    spread = copy["spec"]["template"]["spec"].get("topologySpreadConstraints", [])
    for constraint in spread:
        constraint["labelSelector"]["matchLabels"] = labels
    return changed(copy, spec__selector__matchLabels=labels, spec__template__metadata__labels=labels)


BREAKS = {
    "replicas": changed(deployment(), spec__replicas=1),
    "spread": with_pod(topologySpreadConstraints=REMOVED),
    "resources": with_container(resources=REMOVED),
    "probes": with_container(livenessProbe=REMOVED),
    "images": with_container(image="nginx:latest"),
    "plain-secrets": config_map(password="hunter22"),
    "pod-security": with_pod(hostNetwork=True),
    "rbac-wildcards": role(verbs=["*"]),
    "exemption-reasons": deployment(singleton_reason="because"),
    "replicas-declared": changed(deployment(), spec__replicas=REMOVED),
    "disruption-budget": deployment(),
    "drain": budget(maxUnavailable=0),
}
"""For each rule, an object that breaks it."""


def test_every_rule_stops_the_preview_with_object_fault_and_remedy(stack: Stack) -> None:
    assert set(BREAKS) == {rule.name for rule in (*RULES, *STACK_RULES)}
    objects = [_named(broken, f"breaks-{rule}") for rule, broken in BREAKS.items()]
    stack.declare([*objects, deployment()])

    preview = stack.judged()

    assert preview.returncode != 0
    print(preview.stdout, preview.stderr)
    for rule in (*RULES, *STACK_RULES):
        assert rule.name in preview.stdout
