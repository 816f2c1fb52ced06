"""What the doctor examines of a cluster, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from infra.settings.capacity.pools import Pool

Scaling: TypeAlias = Literal["karpenter", "gke-compute-class", "cluster-api", "none"]
"""Who makes and removes nodes."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of object that Flotilla applies.

    Args:
        api_version: group and version, as manifests write them: `apps/v1`.
        name: the kind: `Deployment`.
        comes_with: what Flotilla installs that brings the kind; None where the cluster has to have it.
    """

    api_version: str
    name: str
    comes_with: str | None = None

    @property
    def group(self) -> str:
        """API group; empty for the core."""
        return self.api_version.rpartition("/")[0]


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """The DaemonSet that makes a pool's accelerators schedulable, where Flotilla installs it."""

    namespace: str
    name: str


@dataclass(frozen=True, kw_only=True)
class DriverNeed:
    """The oldest driver that will do, and what needs it.

    Args:
        version: the version, major first.
        reason: what does not work with an older one.
    """

    version: tuple[int, ...]
    reason: str

    def __str__(self) -> str:
        return ".".join(f"{number:02d}" if place else str(number) for place, number in enumerate(self.version))


@dataclass(frozen=True, kw_only=True)
class GpuPool:
    """A node pool with accelerators.

    Args:
        name: name of the pool.
        nodes: how many nodes at rest.
        devices: what one node offers, by the resource that pods request.
        product: product of the accelerators; None where the settings name none, or it is not NVIDIA's.
        cut: whether its GPUs are cut into MIG's parts.
        driver: oldest driver that will do; None where it is not NVIDIA's.
        plugin: what makes the accelerators schedulable; None where the platform brings it.
    """

    name: str
    nodes: int
    devices: Mapping[str, int]
    product: str | None = None
    cut: bool = False
    driver: DriverNeed | None = None
    plugin: Plugin | None = None


@dataclass(frozen=True, kw_only=True)
class Autoscaler:
    """Who makes and removes nodes.

    Args:
        kind: who it is.
        namespace: where it runs; None where the cloud runs it.
        name: name of its Deployment.
        lease: name of the lease that its leader holds.
        machines: namespace of Cluster API's machines.
    """

    kind: Scaling = "none"
    namespace: str | None = None
    name: str = ""
    lease: str = ""
    machines: str = ""


@dataclass(frozen=True, kw_only=True)
class ClusterTarget:
    """A Kubernetes cluster.

    Args:
        context: context of the kubeconfig.
        environment: name of the environment.
        zones: zones that nodes must be in.
        pools: every node pool, as capacity sees it.
        gpu_pools: the pools with accelerators.
        autoscaler: who makes and removes nodes.
        teams: names of the teams, which are their namespaces.
        queues: whether jobs queue for their quota.
        levels: labels by which nodes say where they stand, by the pools whose jobs are placed by them.
        kinds: all kinds of objects that Flotilla applies.
        default_class: name of the storage class that Flotilla makes the default; None where it makes none.
    """

    context: str
    environment: str = ""
    zones: tuple[str, ...] = ()
    pools: tuple[Pool, ...] = ()
    gpu_pools: tuple[GpuPool, ...] = ()
    autoscaler: Autoscaler = field(default_factory=Autoscaler)
    teams: tuple[str, ...] = ()
    queues: bool = False
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    kinds: tuple[Kind, ...] = ()
    default_class: str | None = None
