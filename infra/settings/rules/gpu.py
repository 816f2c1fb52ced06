"""Rules about accelerators: who shares what, and what can be shared at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from infra.settings.devices import NVIDIA, devices_of, offered
from infra.settings.models.autoscaler import ClusterApi, Karpenter, Kwok, NoAutoscaler
from infra.settings.models.gpu import Mig
from infra.settings.rules.rule import Violation, repeated, rule
from infra.settings.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.models.cluster import Cluster
    from infra.settings.models.node_pools import NodePool
    from infra.settings.models.settings import Settings

SHARING = ("cluster", "gpu", "nvidia", "sharing")
PARTS = 7
FEWER_PARTS = ((re.compile(r"(?i)\b(A30|RTX PRO 6000)\b"), 4), (re.compile(r"(?i)\bRTX PRO (5000|4500)\b"), 2))
"""How many slices of the smallest size a product can be cut into, where it is fewer than seven.

Source: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-gpus.html, read in its version 610.
"""

UNCUTTABLE = re.compile(r"(?i)\b(K80|M60|P4|P40|P100|V100|T4|A2|A10G?|A16|A40|L4|L40S?)\b")
"""Products that the same table does not list. One that neither knows, such as a newer one, is taken to have MIG."""


@rule("cluster")
def accelerators_have_one_vendor(settings: Settings) -> Iterator[Violation]:
    """Refuse a vendor of a machine without accelerators: its plugin would find nothing."""
    for number, pool in enumerate(settings.cluster.node_pools):
        if pool.machine.vendor != "nvidia" and not pool.machine.gpus:
            path = ("cluster", "nodePools", number, "machine", "vendor")
            yield Violation(path, "is the vendor of accelerators that the machine lacks", "Remove it, or add gpus")


@rule("cluster")
def gpus_are_shared_one_way(settings: Settings) -> Iterator[Violation]:
    """Refuse two ways of sharing of one name or one pool: two plugins would fight over the node."""
    ways = settings.cluster.gpu.nvidia.sharing
    for index, name in repeated(way.name for way in ways):
        yield Violation((*SHARING, index, "name"), f"another way of sharing is called {name}", "Write another name")
    places = [(number, index, pool) for number, way in enumerate(ways) for index, pool in enumerate(way.pools)]
    for at, name in repeated(pool for _, _, pool in places):
        number, index, _ = places[at]
        yield Violation((*SHARING, number, "pools", index), f"{name} is shared already", "Remove one")


@rule("cluster")
def shared_gpus_can_be_shared(settings: Settings) -> Iterator[Violation]:
    """Refuse sharing of pools without NVIDIA's GPUs, and MIG on products that cannot be cut."""
    pools = {pool.name: pool for pool in settings.cluster.node_pools}
    shareable = [name for name, pool in pools.items() if pool.machine.gpus and pool.machine.vendor == "nvidia"]
    for number, way in enumerate(settings.cluster.gpu.nvidia.sharing):
        for index, name in enumerate(way.pools):
            path = (*SHARING, number, "pools", index)
            if name not in shareable:
                among = f"Write one of {', '.join(shareable)}" if shareable else "Remove it"
                what = f"there is no pool {name} of NVIDIA's GPUs"
                yield Violation(path, what, f"{did_you_mean(name, shareable)}{among}")
                continue
            product = _words(pools[name])
            if isinstance(way, Mig) and UNCUTTABLE.search(product):
                what = f"{pools[name].machine.accelerator} of {name} cannot be cut into parts"
                yield Violation(path, what, "Share it by time-slicing or mps")


@rule("cluster")
def autoscalers_know_what_is_requested(settings: Settings) -> Iterator[Violation]:
    """Refuse parts of GPUs under a name that an autoscaler makes no nodes for: their pods would wait for ever.

    Clouds know what their machines have. Cluster Autoscaler is told of Cluster API's, but of one kind of device each.
    """
    cluster = settings.cluster
    if isinstance(cluster.autoscaler, NoAutoscaler):
        return
    if isinstance(cluster.autoscaler, ClusterApi):
        yield from _of_several_kinds(cluster)
        return
    for number, way in enumerate(cluster.gpu.nvidia.sharing):
        names = {
            name for pool in cluster.node_pools if pool.name in way.pools for name in devices_of(pool, cluster.gpu)
        }
        if unknown := sorted(names - {NVIDIA}):
            remedy = "strategy: single" if isinstance(way, Mig) else "rename: false"
            what = f"no autoscaler makes nodes for {', '.join(unknown)}, which no type of machine has"
            yield Violation((*SHARING, number), what, f"Write {remedy}, or set cluster.autoscaler.kind to none")


@rule("cluster")
def slices_fit_a_gpu(settings: Settings) -> Iterator[Violation]:
    """Refuse more slices than a GPU has, one profile twice, and several profiles that `single` could not tell apart."""
    for number, way in enumerate(settings.cluster.gpu.nvidia.sharing):
        if not isinstance(way, Mig):
            continue
        path = (*SHARING, number, "slices")
        for index, name in repeated(each.profile for each in way.slices):
            yield Violation((*path, index, "profile"), f"{name} is given twice", "Add up their counts")
        used = sum(int(each.profile[0]) * each.count for each in way.slices)
        there = min((_parts(pool) for pool in settings.cluster.node_pools if pool.name in way.pools), default=PARTS)
        if used > there:
            what = f"they take {used} parts of a GPU that has {there}"
            yield Violation(path, what, "Write fewer or smaller slices")
        if way.strategy == "single" and len(way.slices) > 1:
            what = "strategy: single offers slices of one profile only"
            yield Violation(path, what, "Write one profile, or strategy: mixed")


@rule("cluster", "teams")
def quotas_name_devices_there_are(settings: Settings) -> Iterator[Violation]:
    """Refuse a quota of a device that no pool offers, and of NVIDIA's whole GPUs, which `gpus` counts."""
    known = [resource for resource in offered(settings.cluster) if resource != NVIDIA]
    for number, team in enumerate(settings.teams):
        for name in team.quota.devices:
            path = ("teams", number, "quota", "devices", name)
            if name == NVIDIA:
                yield Violation(path, "is counted by the quota's gpus", "Write it there")
            elif name not in known:
                among = f"Write one of {', '.join(known)}" if known else "Remove it"
                yield Violation(path, "no pool offers it", f"{did_you_mean(name, known)}{among}")


@rule("cluster")
def simulated_machines_of_a_type_are_alike(settings: Settings) -> Iterator[Violation]:
    """Refuse two ways of sharing the GPUs of one simulated type: the sandbox sells each type once, parts and all."""
    cluster = settings.cluster
    if not isinstance(cluster.autoscaler, Karpenter) or not isinstance(cluster.autoscaler.provider, Kwok):
        return
    seen: dict[str, NodePool] = {}
    for number, pool in enumerate(cluster.node_pools):
        first = seen.setdefault(pool.instance_type, pool)
        if pool.purpose == first.purpose == "gpu" and devices_of(first, cluster.gpu) != devices_of(pool, cluster.gpu):
            what = f"the pool {first.name} shares the GPUs of {pool.instance_type} differently"
            yield Violation(("cluster", "nodePools", number, "instanceType"), what, "Write a type of its own")


def _of_several_kinds(cluster: Cluster) -> Iterator[Violation]:
    for number, way in enumerate(cluster.gpu.nvidia.sharing):
        for pool in cluster.node_pools:
            if pool.name in way.pools and len(found := devices_of(pool, cluster.gpu)) > 1:
                what = f"Cluster Autoscaler is told of one kind of device a machine, and {pool.name} has {len(found)}"
                yield Violation((*SHARING, number, "slices"), what, "Write slices of one profile")


def _words(pool: NodePool) -> str:
    return (pool.machine.accelerator or "").replace("-", " ")


def _parts(pool: NodePool) -> int:
    return next((parts for product, parts in FEWER_PARTS if product.search(_words(pool))), PARTS)
