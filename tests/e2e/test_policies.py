"""The policy pack in the real engine, with the real Kubernetes provider, over programs that break each rule."""

from __future__ import annotations

import json
import os
import re
import subprocess
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
    from pathlib import Path

pytestmark = pytest.mark.e2e

UNKNOWN = "(unknown at preview)"

PROJECT = "name: judged\nruntime: python\n"
PROGRAM = f'''
"""Declares the objects of objects.json; the provider writes them to a folder instead of a cluster."""

import json
from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s

here = Path(__file__).parent
provider = k8s.Provider("rendered", render_yaml_to_directory=str(here / "rendered"))
later = k8s.core.v1.Namespace("later", opts=pulumi.ResourceOptions(provider=provider)).id


def value(declared):
    if isinstance(declared, dict):
        return {{key: value(each) for key, each in declared.items()}}
    if isinstance(declared, list):
        return [value(each) for each in declared]
    return later if declared == "{UNKNOWN}" else declared


for declared in json.loads((here / "objects.json").read_text()):
    encrypted = declared.pop("encrypted", None)
    group, _, version = declared["apiVersion"].rpartition("/")
    token = f"kubernetes:{{group or 'core'}}/{{version}}:{{declared['kind']}}"
    opts = pulumi.ResourceOptions(provider=provider, additional_secret_outputs=encrypted)
    pulumi.CustomResource(token, declared["metadata"]["name"], value(declared), opts)
'''

_VIOLATION = re.compile(r"- \[(\w+)\].*?  (\S+)  \(\S+ (\S+)\)\n.*\n\s+(.*)")


class Stack:
    """A throw-away stack of a program that declares the given objects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables = os.environ | environment(state=folder / "state")
        del self.variables["KUBECONFIG"]  # the provider renders to a folder, and takes no cluster beside it
        (folder / "Pulumi.yaml").write_text(PROJECT)
        (folder / "__main__.py").write_text(PROGRAM)
        self._pulumi("stack", "init", "judged").check_returncode()

    def run(self, command: str, objects: Sequence[Mapping[str, Any]]) -> subprocess.CompletedProcess[str]:
        """Run `pulumi preview` or `pulumi up` with the policies on a program that declares the objects."""
        (self.folder / "objects.json").write_text(json.dumps(objects))
        return self._pulumi(*command.split(), "--policy-pack", str(POLICIES))

    def rendered(self) -> list[str]:
        """Return the names of the manifests the provider has written: what has been applied."""
        return [path.name for path in (self.folder / "rendered").rglob("*.yaml")]

    def _pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["pulumi", *arguments, "--non-interactive", "--color", "never"],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    return Stack(tmp_path)


def _named(manifest: Object, name: str) -> Object:
    """Return the object under a name of its own, its pods' labels included: rules across objects see it alone."""
    labels = {"app.kubernetes.io/name": name}
    copy = changed(manifest, metadata__name=name)
    if "selector" in copy.get("spec", {}):
        copy = changed(copy, spec__selector__matchLabels=labels)
    if copy["kind"] == "Deployment":
        copy = changed(copy, spec__template__metadata__labels=labels)
        for constraint in copy["spec"]["template"]["spec"].get("topologySpreadConstraints", []):
            constraint["labelSelector"]["matchLabels"] = labels
    return copy


def _violations(result: subprocess.CompletedProcess[str]) -> dict[tuple[str, str], str]:
    """Return the messages of the mandatory policies by rule and object."""
    found = _VIOLATION.findall(result.stdout)
    return {(rule, name): message for level, rule, name, message in found if level == "mandatory"}


BREAKS: dict[str, tuple[Object, str]] = {
    "replicas": (changed(deployment(), spec__replicas=1), "declares 1 replica. Declare at least 2"),
    "spread": (with_pod(topologySpreadConstraints__0=REMOVED), "not spread over zones"),
    "resources": (with_container(resources__limits=REMOVED), "container web has no resources.limits.memory. Set"),
    "probes": (with_container(livenessProbe=REMOVED), "container web has no livenessProbe. Add"),
    "images": (with_container(image="nginx:latest"), "uses nginx:latest, whose tag moves. Pin"),
    "plain-secrets": (config_map(password="hunter22"), "data.password holds a secret. Keep"),
    "pod-security": (with_pod(hostNetwork=True), "pod shares hostNetwork. Set"),
    "rbac-wildcards": (role(verbs=["*"]), "rules[0].verbs is `*`. List"),
    "exemption-reasons": (deployment(singleton_reason="because"), "gives no reason. Write"),
    "replicas-declared": (changed(deployment(), spec__replicas=REMOVED), "declares no number of replicas"),
    "disruption-budget": (deployment(), "no PodDisruptionBudget selects its pods. Declare"),
    "drain": (deployment(), "lets no pod of breaks-drain be evicted: maxUnavailable 0 of 2 replicas. Allow"),
    "stores": (config_map(dbHost="mysql"), "dbHost points to mysql, behind which nothing of this stack runs two pods"),
}
"""For each rule, an object that breaks it and no other, and the message."""


def test_every_rule_stops_the_preview_with_object_fault_and_remedy(stack: Stack) -> None:
    objects = [_named(broken, f"breaks-{rule}") for rule, (broken, _) in BREAKS.items()]
    budgets = [
        _named(budget(maxUnavailable=0 if rule == "drain" else 1), f"breaks-{rule}")
        for rule in BREAKS
        if rule != "disruption-budget"
    ]

    preview = stack.run("preview", [*objects, *budgets, deployment(), budget()])

    violations = _violations(preview)
    assert preview.returncode != 0
    assert "preview failed" in preview.stdout
    assert sorted(violations) == sorted((rule.name, f"breaks-{rule.name}") for rule in (*RULES, *STACK_RULES))
    for rule, (_, message) in BREAKS.items():
        assert message in violations[rule, f"breaks-{rule}"]


def test_platform_that_meets_every_rule_is_applied_and_its_exemptions_are_shown(stack: Stack) -> None:
    reason = "a second replica would mint access keys twice"
    single = _named(changed(deployment(singleton_reason=reason), spec__replicas=1), "single")

    result = stack.run("up --yes", [deployment(), budget(), single, role()])

    assert result.returncode == 0, result.stdout
    assert _violations(result) == {}
    assert "[advisory]" in result.stdout
    assert f"Deployment kubeflow/single is exempt by flotilla.dev/singleton-reason: {reason}" in result.stdout
    assert any("single" in name for name in stack.rendered())


@pytest.mark.parametrize("command", ["up --yes", "up --yes --skip-preview"])
def test_violation_stops_the_update_before_the_object_is_applied(stack: Stack, command: str) -> None:
    result = stack.run(command, [with_pod(hostNetwork=True), budget()])

    assert result.returncode != 0
    assert ("pod-security", "web") in _violations(result)
    assert not any("deployment" in name for name in stack.rendered())


def test_unknown_values_are_no_violation_and_hide_none(stack: Stack) -> None:
    unknown = changed(
        with_container(image=UNKNOWN, resources__requests__cpu=UNKNOWN, env=[{"name": "PASSWORD", "value": UNKNOWN}]),
        spec__replicas=UNKNOWN,
        metadata__namespace=UNKNOWN,
    )

    innocent = stack.run("preview", [unknown, budget()])
    guilty = stack.run("preview", [changed(unknown, spec__template__spec__hostNetwork=True), budget()])

    assert (innocent.returncode, _violations(innocent)) == (0, {}), innocent.stdout
    assert list(_violations(guilty)) == [("pod-security", "web")]


def test_secret_must_be_encrypted_in_the_state(stack: Stack) -> None:
    plain = _named(secret(stringData={"password": "correct horse"}), "plain")
    encrypted = _named(secret(stringData={"password": "correct horse"}), "sealed") | {"encrypted": ["data"]}

    preview = stack.run("preview", [plain, encrypted])

    violations = _violations(preview)
    assert list(violations) == [("plain-secrets", "plain")]
    assert "data is not marked as secret" in violations["plain-secrets", "plain"]
    assert "correct horse" not in violations["plain-secrets", "plain"]
