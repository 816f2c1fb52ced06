"""How pools share GPUs, as NVIDIA's device plugin and feature discovery read it: one file a way of sharing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi_kubernetes as k8s
import yaml

from infra.components.cluster.gpu import nodes
from infra.core import names
from infra.core.parts import Volume
from infra.settings.devices import NVIDIA
from infra.settings.models.gpu import Mig, Mps, TimeSlicing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pulumi

    from infra.settings.models.gpu import Sharing
    from infra.settings.models.node_pools import NodePool

FOLDER = "/config"
"""Where the files lie in the containers that read them."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """The nodes that one DaemonSet serves: those of one way of sharing, or all others.

    Args:
        suffix: ends the name of the DaemonSet; empty for nodes whose GPUs are not shared.
        sharing: how their GPUs are shared; None where they are not.
        affinity: the nodes.
    """

    suffix: str
    sharing: Sharing | None
    affinity: k8s.core.v1.AffinityArgs

    def named(self, agent: str) -> str:
        """Return the name of an agent's DaemonSet on these nodes."""
        return names.bounded(f"{agent}{self.suffix}")

    @property
    def needs_admin(self) -> bool:
        """Whether agents need a capability to see the devices: MIG's are shown to administrators only."""
        return isinstance(self.sharing, Mig)


def groups(ways: Sequence[Sharing], pools: Iterable[NodePool]) -> list[Group]:
    """Return the groups of NVIDIA's nodes: no node is in two."""
    shared = [name for way in ways for name in way.pools]
    foreign = [pool.name for pool in pools if pool.machine.gpus and pool.machine.vendor != "nvidia"]
    whole = Group(suffix="", sharing=None, affinity=nodes.with_nvidia(but=sorted({*shared, *foreign})))
    return [whole, *(Group(suffix=f"-{way.name}", sharing=way, affinity=nodes.of_pools(way.pools)) for way in ways)]


def files(ways: Sequence[Sharing], *, fail_on_init_error: bool) -> dict[str, str]:
    """Return the text of each way's file by its name."""
    return {
        file_of(way): yaml.safe_dump(_document(way, fail_on_init_error=fail_on_init_error), sort_keys=False)
        for way in ways
    }


def file_of(way: Sharing) -> str:
    """Return the name of a way's file."""
    return f"{way.name}.yaml"


def config_map(
    name: str, namespace: pulumi.Input[str], data: Mapping[str, str], part_of: str, opts: pulumi.ResourceOptions
) -> k8s.core.v1.ConfigMap:
    """Declare the ConfigMap that holds the files."""
    return k8s.core.v1.ConfigMap(
        name,
        metadata=k8s.meta.v1.ObjectMetaArgs(name=name, namespace=namespace, labels=names.labels(name, part_of=part_of)),
        data=dict(data),
        opts=opts,
    )


def volume(config: str) -> Volume:
    """Return the volume by which a container sees the files of a ConfigMap."""
    return Volume(name="config", path=FOLDER, config_map=config)


def environment(group: Group, *, fail_on_init_error: bool) -> dict[str, str]:
    """Return the variables that tell an agent how the GPUs of its nodes are shared."""
    common = {"FAIL_ON_INIT_ERROR": str(fail_on_init_error).lower()}
    if group.sharing is None:
        return {"MIG_STRATEGY": "none", **common}
    strategy = group.sharing.strategy if isinstance(group.sharing, Mig) else "none"
    monitored = {"NVIDIA_MIG_MONITOR_DEVICES": "all"} if group.needs_admin else {}
    return {"CONFIG_FILE": f"{FOLDER}/{file_of(group.sharing)}", "MIG_STRATEGY": strategy, **common, **monitored}


def _document(way: Sharing, *, fail_on_init_error: bool) -> dict[str, Any]:
    flags = {
        "migStrategy": way.strategy if isinstance(way, Mig) else "none",
        "failOnInitError": fail_on_init_error,
    }
    match way:
        case Mig():
            return {"version": "v1", "flags": flags}
        case TimeSlicing():
            return {"version": "v1", "flags": flags, "sharing": {"timeSlicing": _replicas(way, refuse_more=True)}}
        case Mps():
            return {"version": "v1", "flags": flags, "sharing": {"mps": _replicas(way, refuse_more=False)}}


def _replicas(way: TimeSlicing | Mps, *, refuse_more: bool) -> dict[str, Any]:
    """Offer parts of each GPU, under a name of their own unless the settings say otherwise.

    A request of two turns would bring no more time than one, so it is refused rather than taken for more; MPS refuses
    it of itself.
    """
    resources = {"resources": [{"name": NVIDIA, "replicas": way.replicas}]}
    return {"renameByDefault": way.rename, **({"failRequestsGreaterThanOne": True} if refuse_more else {}), **resources}
