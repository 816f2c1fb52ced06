"""For each rule about machines that are taken back or break, values that break just that one; and what is allowed."""

from __future__ import annotations

from tests.unit.settings.node_pool_rules import AWS, AZURE, CLUSTER_API, GKE, KWOK, NONE, POOL, cluster

SPOT = "capacityType: spot"
SMALL = "resources: { requests: { cpu: 10m, memory: 80Mi }, limits: { memory: 80Mi } }"
DETECTOR = f"{{ kind: node-problem-detector, installed: install, {SMALL} }}"
AGENT = "{ kind: node-monitoring-agent }"
HEALTH = "cluster.gpu.nvidia.health.kind"


def grace(autoscaler: str, span: str, *wishes: str) -> str:
    return cluster(autoscaler, f"disruption: {{ gracePeriod: {span} }}", *wishes)


def watched(autoscaler: str, health: str) -> str:
    return f"{cluster(autoscaler)[:-2]}, gpu: {{ nvidia: {{ health: {health} }} }} }}"


def repairing(autoscaler: str, key: str) -> str:
    return autoscaler.replace("kind:", f"{key}, kind:", 1)


VIOLATIONS = {
    "spot machines outlast their pods": (
        grace(AWS, "2m", SPOT),
        f"{POOL}.disruption.gracePeriod: pods of a spot machine have 90s with Karpenter on AWS, not 2m."
        " Write 90s or less, or capacityType: on-demand.",
    ),
    "notices leave time": (
        cluster(KWOK.replace("cloud: kwok", "cloud: kwok, interruptionNotice: 5s")),
        "cluster.autoscaler.provider.interruptionNotice: of 5s nothing is left once Karpenter has reacted."
        " Write more than 5s.",
    ),
    "google waits for pods of spot machines only": (
        grace(GKE, "1m"),
        f"{POOL}.disruption.gracePeriod: a GKE ComputeClass knows it of spot machines only. Remove it.",
    ),
    "who repairs can be told to": (
        cluster(repairing(AZURE, "nodeRepair: true")),
        "cluster.autoscaler.nodeRepair: AKS runs Karpenter itself, and decides which nodes it repairs. Remove it.",
    ),
    "broken gpus are reported to whom it concerns": (
        watched(CLUSTER_API, AGENT),
        f"{HEALTH}: EKS' agent does not run on nodes of Cluster API. Write node-problem-detector or none.",
    ),
}

FURTHER = [
    (grace(AZURE, "10s", SPOT), "pods of a spot machine have next to no time with Karpenter on AKS, not 10s"),
    (grace(GKE, "106s", "capacityType: spot-or-on-demand"), "pods of a spot machine have 105s with a GKE ComputeClass"),
    (grace(KWOK.replace("cloud: kwok", "cloud: kwok, interruptionNotice: 30s"), "26s", SPOT), "have 25s with"),
    (
        cluster(repairing(CLUSTER_API, "machines: MachinePool, repairAfter: 5m")),
        "cluster.autoscaler.repairAfter: Cluster API replaces machines of a MachineDeployment only",
    ),
    (watched(repairing(AWS, "nodeRepair: true"), DETECTOR), f"{HEALTH}: Karpenter knows no condition of"),
    (watched(GKE, AGENT), f"{HEALTH}: EKS' agent does not run on nodes of a GKE ComputeClass"),
    (watched(AZURE, AGENT), f"{HEALTH}: EKS' agent does not run on nodes of Karpenter on AKS"),
]

VALID = [
    grace(AWS, "90s", SPOT),
    grace(AWS, "2h"),
    grace(AZURE, "2h"),
    grace(GKE, "105s", SPOT),
    grace(CLUSTER_API, "10m"),
    cluster(AZURE, SPOT),
    watched(repairing(AWS, "nodeRepair: true"), AGENT),
    watched(AWS, DETECTOR),
    watched(repairing(CLUSTER_API, "repairAfter: 5m"), DETECTOR),
    watched(GKE, DETECTOR),
    cluster(NONE, "nodes: { min: 2, max: 2 }")[:-2] + f", gpu: {{ nvidia: {{ health: {AGENT} }} }} }}",
]
