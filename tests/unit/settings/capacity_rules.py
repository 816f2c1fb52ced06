"""For each rule about accelerators, queues and capacity, values that break just that one, and what the user is told."""

from __future__ import annotations

from tests.unit.settings.node_pool_rules import AWS, CLUSTER_API, KWOK

SYSTEM = "{ name: system, purpose: system, instanceType: s, nodes: { min: 3, max: 3 }"
SMALL = f"{SYSTEM}, machine: {{ cpu: 4, memory: 16Gi }} }}"
NONE = "teams: []"


def pool(name: str = "gpu", product: str = "A100", nodes: str = "{ min: 2, max: 2 }") -> str:
    """Return a pool of whole GPUs."""
    machine = f"{{ cpu: 96, memory: 1152Gi, gpus: 8, accelerator: {product} }}"
    return f"{{ name: {name}, purpose: gpu, instanceType: p, machine: {machine}, nodes: {nodes} }}"


def cluster(*parts: str) -> str:
    """Return a cluster that says these things, and no team that could mind."""
    return f"cluster: {{ {', '.join(parts)} }}\n{NONE}"


def pools(*given: str) -> str:
    """Return the cluster's pools."""
    return f"nodePools: [{', '.join(given)}]"


def sharing(*ways: str) -> str:
    """Return ways of sharing GPUs."""
    return f"gpu: {{ nvidia: {{ sharing: [{', '.join(ways)}] }} }}"


def mps(name: str = "s", on: str = "gpu") -> str:
    """Return a way of sharing a pool by MPS."""
    return f"{{ name: {name}, kind: mps, pools: [{on}], replicas: 2 }}"


def mig(*slices: str, strategy: str = "mixed") -> str:
    """Return a way of cutting GPUs into slices, each written as count and profile."""
    cut = ", ".join(f"{{ profile: {profile}, count: {count} }}" for count, profile in map(str.split, slices))
    return f"{{ name: s, kind: mig, pools: [gpu], strategy: {strategy}, slices: [{cut}] }}"


def team(quota: str = "", more: str = "") -> str:
    """Return the one team, with more in its quota and beside it."""
    limits = "{ defaultRequest: { cpu: 1, memory: 1Gi }, default: { memory: 4Gi }, max: { cpu: 48, memory: 512Gi } }"
    whole = f"{{ cpu: 64, memory: 512Gi, gpus: 8, pods: 100, sharedStorage: 1Ti{quota} }}"
    return f"teams: [{{ name: vision, owner: vera@example.com, quota: {whole}, limits: {limits}{more} }}]"


def shares(name: str, count: int) -> str:
    """Return a team's share of a pool."""
    return f", shares: [{{ pool: {name}, devices: {{ nvidia.com/gpu: {count} }} }}]"


def jobs(*given: str) -> str:
    """Return example jobs."""
    return f"capacity: {{ jobs: [{', '.join(given)}] }}"


KUEUE = (
    "scheduling: { queues: { kind: kueue, installed: present,"
    " resources: { requests: { cpu: 1, memory: 1Gi }, limits: { memory: 1Gi } } } }\n"
)
JOB = "{ name: j, team: vision, groups: [{ name: g, pods: 1, cpu: 1, memory: 1Gi }] }"
SHARING = "cluster.gpu.nvidia.sharing"

VIOLATIONS = {
    "accelerators have one vendor": (
        cluster(pools(f"{SYSTEM}, machine: {{ cpu: 4, memory: 16Gi, vendor: amd }} }}", pool())),
        "cluster.nodePools[0].machine.vendor: is the vendor of accelerators that the machine lacks."
        " Remove it, or add gpus.",
    ),
    "gpus are shared one way": (
        cluster(sharing(mps("s"), mps("t"))),
        f"{SHARING}[1].pools[0]: gpu is shared already. Remove one.",
    ),
    "shared gpus can be shared": (
        cluster(sharing(mps(on="gpus"))),
        f"{SHARING}[0].pools[0]: there is no pool gpus of NVIDIA's GPUs. Did you mean gpu? Write one of gpu.",
    ),
    "autoscalers know what is requested": (
        cluster(pools(SMALL, pool(nodes="{ min: 0, max: 2 }")), f"autoscaler: {AWS}", sharing(mps())),
        f"{SHARING}[0]: no autoscaler makes nodes for nvidia.com/gpu.shared, which no type of machine has."
        " Write rename: false, or set cluster.autoscaler.kind to none.",
    ),
    "simulated machines of a type are alike": (
        cluster(
            pools(SMALL, pool(nodes="{ min: 0, max: 2 }"), pool("other", nodes="{ min: 0, max: 2 }")),
            f"autoscaler: {KWOK}",
            sharing(mps().replace("replicas: 2", "replicas: 2, rename: false")),
        ),
        "cluster.nodePools[2].instanceType: the pool gpu shares the GPUs of p differently. Write a type of its own.",
    ),
    "slices fit a gpu": (
        cluster(sharing(mig("2 3g.20gb", "2 1g.5gb"))),
        f"{SHARING}[0].slices: they take 8 parts of a GPU that has 7. Write fewer or smaller slices.",
    ),
    "quotas name devices there are": (
        team(quota=", devices: { amd.com/gpu: 1 }"),
        "teams[0].quota.devices['amd.com/gpu']: no pool offers it. Remove it.",
    ),
    "shares add up": (
        KUEUE + team(more=shares("gpu", 6)),
        "teams[0].shares: shares of nvidia.com/gpu add up to 6, and the quota is 8. Write shares of 8 together.",
    ),
    "queues hold every pool": (
        KUEUE + cluster(pools(SMALL, *(pool(f"gpu{number}") for number in range(65)))),
        "cluster.nodePools: 65 cpu and gpu pools are more than a queue can hold, 64."
        " Write fewer pools, or scheduling.queues.kind: none.",
    ),
    "machines are priced once": (
        'capacity: { prices: { currency: EUR, source: s, asOf: "2026-01-01", machines:'
        " [{ instanceType: m, onDemand: 1 }, { instanceType: m, onDemand: 2 }] } }",
        "capacity.prices.machines[1].instanceType: m has a price already. Remove one.",
    ),
    "example jobs are named once": (
        jobs(JOB, JOB),
        "capacity.jobs[1].name: another job is called j. Write another name.",
    ),
    "example jobs name what there is": (
        jobs(JOB.replace("vision", "visions")),
        "capacity.jobs[0].team: there is no team visions. Did you mean vision? Write one of vision.",
    ),
}

FURTHER = [
    (cluster(sharing(mps("s"), mps("s", on="a"))), f"{SHARING}[1].name: another way of sharing is called s"),
    (
        cluster(pools(SMALL, pool(product="Tesla-T4")), sharing(mig("1 1g.5gb"))),
        "Tesla-T4 of gpu cannot be cut into parts. Share it by time-slicing or mps",
    ),
    (
        cluster(pools(SMALL, pool(product="NVIDIA-A30")), sharing(mig("5 1g.6gb"))),
        f"{SHARING}[0].slices: they take 5 parts of a GPU that has 4",
    ),
    (
        cluster(sharing(mig("1 1g.5gb", "2 1g.5gb"))),
        f"{SHARING}[0].slices[1].profile: 1g.5gb is given twice",
    ),
    (
        cluster(sharing(mig("1 1g.5gb", "2 2g.10gb", strategy="single"))),
        "strategy: single offers slices of one profile only. Write one profile, or strategy: mixed",
    ),
    (
        cluster(pools(SMALL, pool(nodes="{ min: 0, max: 2 }")), f"autoscaler: {AWS}", sharing(mig("7 1g.5gb"))),
        f"{SHARING}[0]: no autoscaler makes nodes for nvidia.com/mig-1g.5gb",
    ),
    (
        cluster(pools(SMALL, pool()), f"autoscaler: {CLUSTER_API}", sharing(mig("1 3g.20gb", "4 1g.5gb"))),
        f"{SHARING}[0].slices: Cluster Autoscaler is told of one kind of device a machine, and gpu has 2."
        " Write slices of one profile",
    ),
    (
        "cluster: { gpu: { nvidia: { oldestDriver: r580 } } }",
        "cluster.gpu.nvidia.oldestDriver: 'r580' is not a version of a driver. Write one quoted, such as \"580.65\"",
    ),
    (
        team(quota=", devices: { nvidia.com/gpu: 1 }"),
        "teams[0].quota.devices['nvidia.com/gpu']: is counted by the quota's gpus. Write it there",
    ),
    (
        f"cluster: {{ {sharing(mps())} }}\n" + team(quota=", devices: { nvidia.com/gpu.shared: 33 }"),
        "teams[0].quota.devices['nvidia.com/gpu.shared']: 33 is more than all cpu and gpu pools hold",
    ),
    (team(more=shares("gpu", 8)), "teams[0].shares: nothing guarantees shares without queues"),
    (
        KUEUE + team(more=shares("gpus", 8)),
        "teams[0].shares[0].pool: there is no pool gpus with accelerators. Did you mean gpu?",
    ),
    (KUEUE + team(more=shares("gpu", 17)), "17 is more than gpu has, 16. Write 16 or less"),
    (
        jobs(JOB.replace("cpu: 1", "cpu: 1, pool: gpus")),
        "capacity.jobs[0].groups[0].pool: there is no cpu or gpu pool gpus. Did you mean gpu?",
    ),
]

VALID = [
    cluster(sharing(mps())),
    cluster(sharing(mig("1 3g.20gb", "4 1g.5gb"))),
    cluster(
        pools(SMALL, pool(nodes="{ min: 0, max: 2 }")),
        f"autoscaler: {AWS}",
        sharing(mps().replace("replicas: 2", "replicas: 2, rename: false")),
    ),
    cluster(
        pools(SMALL, pool(nodes="{ min: 0, max: 2 }")),
        f"autoscaler: {AWS}",
        sharing(mig("7 1g.5gb", strategy="single")),
    ),
    cluster(pools(SMALL, pool()), f"autoscaler: {CLUSTER_API}", sharing(mig("7 1g.5gb"))),
    cluster(pools(SMALL, pool()), f"autoscaler: {CLUSTER_API}", sharing(mps())),
    'cluster: { gpu: { nvidia: { oldestDriver: "580.65" } } }',
    KUEUE + team(more=shares("gpu", 8)),
    jobs(JOB),
]
