"""For each rule about what back ends can do, values that break just that one, and what the user is told."""

from __future__ import annotations

from infra.settings.gke_accelerators import NAMES

RUNS = "resources: { requests: { cpu: 100m, memory: 128Mi }, limits: { memory: 512Mi } }"
TAGS = "subnetTags: { a: b }, securityGroupTags: { a: b }"
IDENTITY = "controllerRole: 'arn:aws:iam::123456789012:role/k', nodeRole: n, interruptionQueue: q, images: al2023@v1"
AWS = f"{{ kind: karpenter, {RUNS}, provider: {{ cloud: aws, clusterName: c, {IDENTITY}, {TAGS} }} }}"
AZURE = f"{{ kind: karpenter, {RUNS}, provider: {{ cloud: azure }} }}"
KWOK = f"{{ kind: karpenter, {RUNS}, provider: {{ cloud: kwok }} }}"
GKE = "{ kind: gke-compute-class }"
TEMPLATES = "infrastructure: { group: i.x-k8s.io, kind: M }, bootstrap: { group: b.x-k8s.io, kind: T }"
CLUSTER_API = f"{{ kind: cluster-api, {RUNS}, clusterName: c, namespace: n, version: v1.36.3, {TEMPLATES} }}"
NONE = "{ kind: none }"

SYSTEM = (
    "{ name: system, purpose: system, instanceType: s, machine: { cpu: 4, memory: 16Gi }, nodes: { min: 3, max: 3 }"
)
GPUS = "machine: { cpu: 96, memory: 1152Gi, gpus: 8, accelerator: NVIDIA-A100-SXM4-40GB }"
GPU = f"{{ name: gpu, purpose: gpu, instanceType: p4d, {GPUS}, zones: [a, b]"
SIZED = "nodes: { min: 0, max: 2 }"


def cluster(autoscaler: str, *wishes: str, system: str = "", more: str = "") -> str:
    """Return a cluster with that autoscaler, whose gpu pool asks for these things."""
    said = [SIZED, *wishes] if not any(wish.startswith("nodes:") for wish in wishes) else list(wishes)
    pools = f"[{SYSTEM}{system} }}, {GPU}, {', '.join(said)} }}{more}]"
    return f"cluster: {{ nodePools: {pools}, autoscaler: {autoscaler} }}"


POOL = "cluster.nodePools[1]"
QUOTA = "quota: { cpu: 64, memory: 512Gi, gpus: 8, pods: 100, sharedStorage: 1Ti }"
SMALL, LARGE = "cpu: 100m, memory: 256Mi", "cpu: 48, memory: 512Gi"
LIMITS = f"limits: {{ defaultRequest: {{ {SMALL} }}, default: {{ memory: 4Gi }}, max: {{ {LARGE} }} }}"
TEAMS = f"teams: [{', '.join(f'{{ name: {name}, owner: {name}@example.com, {QUOTA}, {LIMITS} }}' for name in 'abc')}]"

VIOLATIONS = {
    "pools ask for what there is": (
        cluster(AWS, "placement: { within: rack, name: r7 }"),
        f"{POOL}.placement.within: Karpenter on AWS does not offer rack. Remove it, or write group or zone.",
    ),
    "pools in one zone name it": (
        cluster(AWS, "placement: { within: zone }"),
        f"{POOL}.placement.within: the pool spans a, b. Write one zone as the pool's zones.",
    ),
    "disks come in gibibytes": (
        cluster(AWS, "disk: { size: 200G }"),
        f"{POOL}.disk.size: 200G is no whole number of gibibytes. Write 187Gi.",
    ),
    "disks are of a size that is sold": (
        cluster(AZURE, "disk: { size: 4Ti }"),
        f"{POOL}.disk.size: 4Ti is not between 30Gi and 2048Gi. Write 30Gi to 2048Gi.",
    ),
    "machines of a type are alike": (
        cluster(KWOK, more=f", {GPU.replace('name: gpu', 'name: other').replace('cpu: 96', 'cpu: 90')}, {SIZED} }}"),
        "cluster.nodePools[2].machine: the pool gpu describes p4d differently. Describe them alike.",
    ),
    "budgets have a beginning and an end": (
        cluster(AWS, "disruption: { budgets: [{ nodes: '0', schedule: '0 8 * * 1-5' }] }"),
        f"{POOL}.disruption.budgets[0].schedule: is given without duration. Add duration, or remove schedule.",
    ),
    "karpenter finds its network": (
        cluster(AWS.replace("subnetTags: { a: b }", "subnetTags: {}")),
        "cluster.autoscaler.provider.subnetTags: the map is empty."
        " Write the tag that they carry, such as karpenter.sh/discovery: c.",
    ),
    "the autoscaler fits the system pool": (
        cluster(AWS.replace("cpu: 100m", "cpu: 5")),
        "cluster.autoscaler.resources.requests.cpu: 5 fits on no system node: the largest has 4."
        " Write less, or choose larger machines.",
    ),
    "google sells the accelerators": (
        cluster(GKE).replace("NVIDIA-A100-SXM4-40GB", "NVIDIA-L40"),
        f"{POOL}.machine.accelerator: Google does not sell NVIDIA-L40. Did you mean NVIDIA-L4?"
        f" Write one of {', '.join(sorted(NAMES))}.",
    ),
    "quotas bound gke pools": (
        cluster(GKE) + "\n" + TEAMS,
        "cluster.nodePools: GKE would grow to the 24 gpus of all teams' quotas, beyond the pools' 16."
        " Lower the quotas, or raise the pools' nodes.max.",
    ),
}

REFUSED: tuple[tuple[str, str, str], ...] = (
    (AWS, "fabric: { kind: rdma, devices: 8 }", "fabric.kind: Karpenter on AWS does not offer rdma"),
    (AZURE, "fabric: { kind: efa, interfaces: 4 }", "fabric.kind: Karpenter on AKS does not offer efa"),
    (AZURE, "disk: { size: 200Gi, type: Premium }", "disk.type: Karpenter on AKS does not offer disk.type"),
    (AZURE, "placement: { within: group, name: g }", "placement.within: Karpenter on AKS does not offer group"),
    (KWOK, "disk: { size: 200Gi, iops: 3000 }", "disk.iops: the sandbox's Karpenter does not offer disk.iops"),
    (KWOK, "placement: { within: group, name: g }", "placement.within: the sandbox's Karpenter does not offer group"),
    (GKE, "nodes: { min: 1, max: 2 }", "nodes.min: a GKE ComputeClass does not offer nodes.min. Write 0"),
    (GKE, "placement: { within: rack, name: r }", "placement.within: a GKE ComputeClass does not offer rack"),
    (GKE, "disruption: { expireAfter: 24h }", "disruption.expireAfter: a GKE ComputeClass does not offer"),
    (GKE, "fabric: { kind: efa, interfaces: 4 }", "fabric.kind: a GKE ComputeClass does not offer efa"),
    (CLUSTER_API, "capacityType: spot", "capacityType: Cluster API does not offer capacityType: spot. Write on-demand"),
    (CLUSTER_API, "disk: { size: 200Gi }", "disk: Cluster API does not offer disk. Remove it"),
    (CLUSTER_API, "disruption: { budgets: [{ nodes: '1' }] }", "disruption.budgets: Cluster API does not offer"),
    (NONE, "fabric: { kind: nvlink }", "fabric.kind: a cluster without an autoscaler does not offer nvlink"),
    (NONE, "capacityType: spot-or-on-demand", "capacityType: a cluster without an autoscaler does not offer"),
)
"""An autoscaler, what a gpu pool asks for, and what the user is told."""

FURTHER = [
    *((cluster(autoscaler, wish), f"{POOL}.{said}") for autoscaler, wish, said in REFUSED),
    (
        cluster(AWS, system=", disk: { size: 100Gi }"),
        "cluster.nodePools[0].disk: system nodes are made with the cluster, so this would have no effect",
    ),
    (
        cluster(AWS.replace("kind: karpenter,", "kind: karpenter, replicas: 4,")),
        "cluster.autoscaler.replicas: 4 replicas would share at most 3 system nodes",
    ),
    (cluster(AWS, system=", capacityType: spot-or-on-demand"), "spot machines vanish together"),
]

VALID = [
    cluster(
        AWS,
        "capacityType: spot-or-on-demand",
        "disk: { size: 1Ti, type: gp3, iops: 6000, throughput: 500 }",
        "placement: { within: group, name: near }",
        "fabric: { kind: efa, interfaces: 4 }",
        "disruption: { gracePeriod: 90s, expireAfter: 336h, "
        "budgets: [{ nodes: '0', schedule: '0 8 * * 1-5', duration: 10h, reasons: [Drifted] }] }",
    ),
    cluster(AZURE, "capacityType: spot", "disk: { size: 512Gi }", "fabric: { kind: rdma, devices: 8 }"),
    cluster(KWOK, "placement: { within: rack, name: r7 }", "fabric: { kind: nvlink }"),
    cluster(GKE, "disk: { size: 200Gi, type: pd-ssd }", "placement: { within: group, name: near }"),
    cluster(CLUSTER_API, "nodes: { min: 1, max: 2 }", "fabric: { kind: rdma, devices: 8 }"),
]
