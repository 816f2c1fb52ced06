"""For each rule about topologies and gangs, values that break just that one, and what the user is told."""

from __future__ import annotations

from tests.unit.settings.node_pool_rules import CLUSTER_API, cluster

RESOURCES = "resources: { requests: { cpu: 1, memory: 1Gi }, limits: { memory: 1Gi } }"
PATH = "scheduling.queues.topologies"
FIXED = "nodes: { min: 2, max: 2 }"

OTHER = ", { name: other, purpose: cpu, instanceType: c, machine: { cpu: 8, memory: 32Gi }, nodes: { min: 1, max: 1 } }"


def topology(name: str = "t", pools: str = "gpu", levels: str = "block, rack", more: str = "") -> str:
    """Return a topology of the gpu pool."""
    return f"{{ name: {name}, pools: [{pools}], levels: [{levels}]{more} }}"


def queues(*topologies: str, gangs: str = "") -> str:
    """Return queues with these topologies."""
    kueue = f"kind: kueue, installed: present, {RESOURCES}, topologies: [{', '.join(topologies)}]"
    return f"scheduling: {{ queues: {{ {kueue} }}{gangs} }}\n"


def gangs(kind: str = "coscheduling", installed: str = "install", more: str = "", resources: str = RESOURCES) -> str:
    """Return a gang scheduler."""
    return f"gangs: {{ kind: {kind}, installed: {installed}, {resources}{more} }}"


def alone(*given: str, **more: str) -> str:
    """Return scheduling with a gang scheduler and no queues."""
    return f"scheduling: {{ {gangs(*given, **more)} }}\n"


VIOLATIONS = {
    "topologies are named once": (
        queues(topology(), topology(pools="other")) + cluster(CLUSTER_API, FIXED, more=OTHER),
        f"{PATH}[1].name: another topology is called t. Write another name.",
    ),
    "topologies are of pools there are": (
        queues(topology(pools="gpus")),
        f"{PATH}[0].pools[0]: there is no cpu or gpu pool gpus. Did you mean gpu? Write one of gpu.",
    ),
    "topology levels go inwards": (
        queues(topology(levels="rack, block")),
        f"{PATH}[0].levels: rack, block do not go from the largest to the smallest, each once. Write [block, rack].",
    ),
    "topology levels have labels": (
        queues(topology(more=", labelledBy: google")),
        f"{PATH}[0].levels[1]: nodes labelled by google tell no rack, only block and subblock."
        " Remove it, or write the label under labels.rack.",
    ),
    "topologies are of nodes that stay": (
        queues(topology()) + cluster(CLUSTER_API),
        f"{PATH}[0].pools[0]: gpu has 0 to 2 nodes, and a job would wait for nodes that are made only once it starts."
        " Remove it, and say placement for the pool; or give the pool one size.",
    ),
    "topologies tell racks apart": (
        queues(topology()) + cluster(CLUSTER_API, FIXED, "placement: { within: rack, name: r7 }"),
        f"{PATH}[0].pools[0]: gpu lies in the rack r7, and Kueue keeps a job's pods on one pool."
        " Write one pool of all racks, without placement.",
    ),
    "topologies have one scheduler": (
        queues(topology(), gangs=f", {gangs(installed='present')}"),
        "scheduling.gangs.kind: coscheduling would keep places for pods whose nodes Kueue has chosen already, all of a"
        " job at once. Write none, or remove scheduling.queues.topologies.",
    ),
    "gang schedulers have a name of their own": (
        alone(more=", schedulerName: volcano"),
        "scheduling.gangs.schedulerName: volcano is taken for Volcano by the training operator, which would make groups"
        " of the wrong kind. Write another name.",
    ),
    "gang schedulers fit the system pool": (
        alone("volcano", more=", replicas: 4"),
        "scheduling.gangs.replicas: 4 replicas would share at most 3 system nodes."
        " Write 3 or less, or raise the pool's max.",
    ),
}

FURTHER = [
    (queues(topology("machines")), f"{PATH}[0].name: machines is what the topology of all other pools is called"),
    (queues(topology(pools="system")), f"{PATH}[0].pools[0]: there is no cpu or gpu pool system"),
    (queues(topology("s"), topology("t")), f"{PATH}[1].pools[0]: gpu is in the topology s already. Remove one"),
    (queues(topology(levels="rack, rack")), f"{PATH}[0].levels: rack, rack do not go from the largest to the smallest"),
    (
        queues(topology(levels="zone, nvlink")),
        f"{PATH}[0].levels[1]: gpu has no NVLink fabric, so no one label tells which nodes share a domain."
        " Give all its pools the same fabric, of kind nvlink, or write the label under labels.nvlink",
    ),
    (
        queues(topology(more=", labels: { subblock: a/b }")),
        f"{PATH}[0].labels.subblock: is the label of a level that t does not have",
    ),
    (
        queues(topology(more=", labels: { block: a/b, rack: a/b }")),
        f"{PATH}[0].levels[1]: rack has the label of block, a/b",
    ),
    (queues(topology(levels="")), f"{PATH}[0].levels: "),
    (queues(topology(), gangs=f", {gangs('volcano')}"), "scheduling.gangs.kind: volcano would keep places for pods"),
    (
        alone(more=", schedulerName: default-scheduler"),
        "scheduling.gangs.schedulerName: default-scheduler is the cluster's own scheduler, which knows no gangs",
    ),
    (
        alone(resources=RESOURCES.replace("cpu: 1", "cpu: 5")),
        "scheduling.gangs.resources.requests.cpu: 5 fits on no system node: the largest has 4",
    ),
    (alone(more=", waitSeconds: 0"), "scheduling.gangs.waitSeconds: "),
    ("training: { operator: { gangScheduler: volcano } }", "training.operator.gangScheduler: unknown key"),
    (f"scheduling: {{ queues: {{ topologies: [{topology()}] }} }}", f"{PATH}: unknown key"),
]

VALID = [
    queues(topology()),
    queues(topology(levels="zone, block, subblock, rack", more=", labelledBy: aws")),
    queues(topology(levels="block, subblock", more=", labelledBy: google")),
    queues(topology(levels="rack, nvlink", more=", labels: { rack: a/leaf, nvlink: nvidia.com/gpu.clique }")),
    queues(topology(levels="rack, nvlink")) + cluster(CLUSTER_API, FIXED, "fabric: { kind: nvlink }"),
    queues(gangs=f", {gangs()}"),
    alone(),
    alone("volcano"),
    alone(installed="present", more=", schedulerName: ours, replicas: 9"),
]
