"""Every rule refuses what it should, and lets the valid base pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from infra.settings.rules import RULES
from tests.unit.settings import (
    capacity_rules,
    database_rules,
    event_rules,
    node_pool_rules,
    protection_rules,
    scheduling_rules,
)
from tests.unit.settings.folder import load_overlay, message
from tests.unit.test_settings_object_store import VIOLATIONS as OBJECT_STORE
from tests.unit.test_settings_storage import VIOLATIONS as STORAGE

if TYPE_CHECKING:
    from pathlib import Path

SYSTEM = """
    - name: system
      purpose: system
      instanceType: m5.xlarge
      machine: { cpu: 4, memory: 16Gi }
      nodes: { min: 3, max: 3 }"""
GPU = """
    - name: gpu
      purpose: gpu
      instanceType: p4d.24xlarge
      machine: { cpu: 96, memory: 1152Gi, gpus: 8, accelerator: A100 }
      nodes: { min: 2, max: 2 }"""
LIMITS = """
    limits:
      defaultRequest: { cpu: 100m, memory: 256Mi }
      default: { memory: 4Gi }
      max: { cpu: 48, memory: 512Gi }"""
QUOTA = """
    quota: { cpu: 64, memory: 512Gi, gpus: 8, pods: 100, sharedStorage: 1Ti }"""


def pools(*texts: str) -> str:
    return "cluster:\n  nodePools:" + "".join(texts)


def teams(*heads: str) -> str:
    return "teams:" + "".join(f"\n  - {head}{QUOTA}{LIMITS}" for head in heads)


VISION = "name: vision\n    owner: vera@example.com"
KARPENTER = f"\n  autoscaler: {node_pool_rules.AWS}\n"


VIOLATIONS = {
    "zones are named once": (
        "cluster: { zones: [a, b, a, c] }",
        "cluster.zones[2]: a is listed twice. Remove one.",
    ),
    "pools are named once": (
        pools(SYSTEM, GPU, GPU),
        "cluster.nodePools[2].name: another pool is called gpu. Write another name.",
    ),
    "pools span zones of the cluster": (
        pools(SYSTEM, GPU + "\n      zones: [a, d]"),
        "cluster.nodePools[1].zones[1]: d is not a zone of the cluster."
        " Write one of a, b, c, or add it to cluster.zones.",
    ),
    "pools have room to be": (
        pools(SYSTEM, GPU.replace("min: 2", "min: 3")),
        "cluster.nodePools[1].nodes.min: 3 is more than the pool's max of 2. Write 2 or less, or raise max.",
    ),
    "the platform has nodes of its own": (
        pools(SYSTEM.replace("min: 3, max: 3", "min: 1, max: 1"), GPU) + "\ntraining: {operator: {replicas: 2}}",
        "cluster.nodePools[0].nodes.min: 1 system node at rest is not highly available: at least 2. Write 2 or more.",
    ),
    "the platform spans zones": (
        pools(SYSTEM + "\n      zones: [b]", GPU),
        "cluster.nodePools[0].zones: all system nodes are in b, and would be lost with it. Add a second zone.",
    ),
    "system nodes stay": (
        pools(SYSTEM + "\n      capacityType: spot", GPU),
        "cluster.nodePools[0].capacityType: spot machines vanish together, and the platform's replicas with"
        " them. Write on-demand.",
    ),
    "fixed pools have one size": (
        pools(SYSTEM, GPU.replace("max: 2", "max: 4")),
        "cluster.nodePools[1].nodes.max: no autoscaler would ever add nodes beyond the 2 of min."
        " Write 2, or set cluster.autoscaler.kind to karpenter.",
    ),
    "karpenter pools start empty": (
        pools(SYSTEM, GPU) + KARPENTER,
        "cluster.nodePools[1].nodes.min: Karpenter keeps no minimum, so 2 would not be there. Write 0.",
    ),
    "gpu pools have gpus": (
        pools(SYSTEM, GPU, GPU.replace("name: gpu", "name: other").replace("gpus: 8, accelerator: A100", "gpus: 0")),
        "cluster.nodePools[2].machine: a gpu pool's machine has no GPUs. Add gpus, or change the pool's purpose.",
    ),
    "node labels are ours to set": (
        pools(SYSTEM, GPU + "\n      labels: { topology.kubernetes.io/zone: a }"),
        "cluster.nodePools[1].labels['topology.kubernetes.io/zone']: is set by the cloud, the kubelet or a"
        " controller. Remove it.",
    ),
    "taints are given once": (
        pools(SYSTEM, GPU + "\n      taints: [{ key: k, effect: NoSchedule }, { key: k, effect: NoSchedule }]"),
        "cluster.nodePools[1].taints[1]: k:NoSchedule is given twice. Remove one.",
    ),
    "requests stay within limits": (
        "mesh: { istiod: { resources: { requests: { memory: 5Gi } } } }",
        "mesh.istiod.resources.requests.memory: 5Gi is more than the limit, 4Gi."
        " Write 4Gi or less, or raise the limit.",
    ),
    "autoscaling has room": (
        "mesh: { ingress: { autoscaling: { min: 6 } } }",
        "mesh.ingress.autoscaling.max: 5 is less than min, 6. Write 6 or more, or lower min.",
    ),
    "replicas fit a system node": (
        "training: { operator: { resources: { requests: { cpu: 5 } } } }",
        "training.operator.resources.requests.cpu: 5 fits on no system node: the largest has 4."
        " Write less, or choose larger machines.",
    ),
    "replicas have nodes of their own": (
        "training: { operator: { replicas: 4 } }",
        "training.operator.replicas: 4 replicas would share at most 3 system nodes."
        " Write 3 or less, or raise the pool's max.",
    ),
    "bursts are not below the rate": (
        "training: { operator: { burst: 100 } }",
        "training.operator.burst: 100 is less than qps, 200. Write 200 or more.",
    ),
    "load balancers say whom they let in": (
        "mesh: { ingress: { serviceType: LoadBalancer, allowedCidrs: [] } }",
        "mesh.ingress.allowedCidrs: an empty list would let everyone in."
        ' List your networks, or write ["0.0.0.0/0"] if you mean it.',
    ),
    "teams are named once": (
        teams(VISION, VISION),
        "teams[1].name: another team is called vision. Write another name.",
    ),
    "teams stay out of the platforms namespaces": (
        teams("name: kube-system\n    owner: vera@example.com"),
        "teams[0].name: kube-system is a namespace of the platform or of Kubernetes. Write another name.",
    ),
    "members are named once": (
        teams(f"{VISION}\n    members: [{{ name: vera@example.com, role: view }}]"),
        "teams[0].members[0].name: vera@example.com is the team's owner already. Remove one.",
    ),
    "container limits rise": (
        teams(VISION).replace("max: { cpu: 48,", "max: { cpu: 65,"),
        "teams[0].limits.max.cpu: 65 is more than the team's quota, 64. Write 64 or less, or raise the team's quota.",
    ),
    "containers fit a machine": (
        teams(VISION).replace("cpu: 64,", "cpu: 192,").replace("max: { cpu: 48,", "max: { cpu: 97,"),
        "teams[0].limits.max.cpu: 97 fits on no node: the largest offers 96. Write 96 or less.",
    ),
    "quotas fit the pools": (
        teams(VISION).replace("memory: 512Gi, gpus", "memory: 3Ti, gpus"),
        "teams[0].quota.memory: 3Ti is more than all cpu and gpu pools hold at their largest, 2304Gi."
        " Write 2304Gi or less, or raise a pool's nodes.max.",
    ),
    **database_rules.VIOLATIONS,
    **node_pool_rules.VIOLATIONS,
    **protection_rules.VIOLATIONS,
    **event_rules.VIOLATIONS,
    **capacity_rules.VIOLATIONS,
    **scheduling_rules.VIOLATIONS,
}


@pytest.mark.parametrize("rule", VIOLATIONS)
def test_rule_refuses_its_violation(rule: str, tmp_path: Path) -> None:
    overlay, expected = VIOLATIONS[rule]
    assert expected in _problems(message(tmp_path, overlay))


@pytest.mark.parametrize("rule", VIOLATIONS)
def test_rule_alone_finds_its_violation(rule: str, tmp_path: Path) -> None:
    problems = _problems(message(tmp_path, VIOLATIONS[rule][0]))
    others = {"the platform has nodes of its own": 2, "pools have room to be": 1}
    assert len(problems) == others.get(rule, 1)


def test_every_rule_has_a_case() -> None:
    assert {rule.name for rule in RULES} == {*VIOLATIONS, *OBJECT_STORE, *STORAGE}


def test_every_rule_says_what_it_refuses() -> None:
    assert all(rule.reason.startswith("Refuse ") for rule in RULES)


@pytest.mark.parametrize(
    ("overlay", "expected"),
    [
        (pools(GPU), "cluster.nodePools: no pool has purpose: system"),
        (pools(SYSTEM.replace("16Gi }", "16Gi, gpus: 1, accelerator: T4 }"), GPU), "1 GPUs that no pod would get"),
        (pools(SYSTEM, GPU.replace(", accelerator: A100", "")), "the machine has GPUs of no known product"),
        (pools(SYSTEM.replace("16Gi }", "16Gi, accelerator: T4 }"), GPU), "names GPUs of a machine that has none"),
        (pools(SYSTEM, GPU + "\n      zones: [a, a]"), "cluster.nodePools[1].zones[1]: a is listed twice"),
        (
            teams(VISION).replace("gpus: 8", "gpus: 17"),
            "17 is more than all cpu and gpu pools hold at their largest, 16",
        ),
        (
            teams(VISION).replace("defaultRequest: { cpu: 100m", "defaultRequest: { cpu: 49"),
            "teams[0].limits.defaultRequest.cpu: 49 is more than max, 48",
        ),
        *database_rules.FURTHER,
        *node_pool_rules.FURTHER,
        *protection_rules.FURTHER,
        *event_rules.FURTHER,
        *capacity_rules.FURTHER,
        *scheduling_rules.FURTHER,
    ],
)
def test_rule_refuses_further_violations(overlay: str, expected: str, tmp_path: Path) -> None:
    assert expected in message(tmp_path, overlay)


@pytest.mark.parametrize(
    "overlay",
    [
        "mesh: {}",
        "mesh: { ingress: { serviceType: LoadBalancer, allowedCidrs: [0.0.0.0/0] } }",
        "training: { operator: { replicas: 3, burst: 200 } }",
        "teams: []",
        pools(SYSTEM, GPU.replace("min: 2", "min: 0")) + KARPENTER,
        pools(SYSTEM + "\n      zones: [a, b]", GPU),
        *database_rules.VALID,
        *node_pool_rules.VALID,
        *protection_rules.VALID,
        *event_rules.VALID,
        *capacity_rules.VALID,
        *scheduling_rules.VALID,
    ],
)
def test_rules_accept_what_is_valid(overlay: str, tmp_path: Path) -> None:
    assert load_overlay(tmp_path, overlay).environment == "dev"


def _problems(text: str) -> list[str]:
    """Return the problems of a message without their places."""
    return [place[1] for line in text.splitlines() if (place := re.fullmatch(r"\s*\S+:\d+: (.*)", line))]
