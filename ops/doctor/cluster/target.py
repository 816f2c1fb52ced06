"""What the doctor examines of a cluster, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


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
class GpuPool:
    """A node pool with GPUs that has nodes at rest.

    Args:
        name: name of the pool.
        nodes: how many nodes at rest.
        gpus: GPUs of one node.
        plugin_comes: whether Flotilla installs what makes GPUs schedulable.
    """

    name: str
    nodes: int
    gpus: int
    plugin_comes: bool = False


@dataclass(frozen=True, kw_only=True)
class ClusterTarget:
    """A Kubernetes cluster.

    Args:
        context: context of the kubeconfig.
        zones: zones that nodes must be in.
        gpu_pools: the GPU pools that have nodes at rest.
        kinds: all kinds of objects that Flotilla applies.
        default_class: name of the storage class that Flotilla makes the default; None where it makes none.
    """

    context: str
    zones: tuple[str, ...] = ()
    gpu_pools: tuple[GpuPool, ...] = ()
    kinds: tuple[Kind, ...] = ()
    default_class: str | None = None
