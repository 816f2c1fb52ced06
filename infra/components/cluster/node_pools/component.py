"""Node pools, and who makes and removes their nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from infra import crd_sources
from infra.components.cluster.node_pools import (
    aws,
    azure,
    cluster_api,
    cluster_api_repair,
    cluster_autoscaler,
    controller,
    gke,
    karpenter,
    kwok,
)
from infra.core import names
from infra.core.component import Component
from infra.core.crds.bundle import CrdBundle
from infra.core.namespace import Namespace
from infra.settings import interruptions
from infra.settings.models.autoscaler import Aws, Azure, ClusterApi, GkeComputeClass, Karpenter, Kwok

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infra.components.cluster.node_pools.karpenter import NodeClass
    from infra.settings.models.gpu import Gpu
    from infra.settings.models.node_pools import NodePool

PART_OF = "cluster"
WAIT_FOR_NODES = {"pulumi.com/deletionPropagationPolicy": "foreground"}
"""Deleting a pool ends with its last machine: whoever takes the autoscaler away next must not leave any behind."""


@dataclass(frozen=True, kw_only=True)
class NodePoolsArgs:
    """What the pools are declared from.

    Args:
        pools: the cluster's pools; those with `purpose: system` are not the autoscaler's.
        autoscaler: who makes and removes nodes.
        gpu: how accelerators are offered to pods.
        region: the cluster's region.
        zones: the cluster's zones.
        context: the cluster's kubeconfig context, for the schemas applied outside the engine.
    """

    pools: Sequence[NodePool]
    autoscaler: Karpenter | GkeComputeClass | ClusterApi
    gpu: Gpu
    region: str
    zones: Sequence[str]
    context: pulumi.Input[str]


class NodePools(Component):
    """Owns an object for each cpu and gpu pool, what it refers to, their schemas, and the autoscaler.

    The system pool, which the autoscaler itself runs on, stays with whoever made the cluster; so do networks, roles
    and the autoscaler where the cloud runs it.
    """

    group = "cluster"

    def __init__(self, name: str, args: NodePoolsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._name = name
        self._args = args
        self._pools = [pool for pool in args.pools if pool.purpose != "system"]
        match args.autoscaler:
            case Karpenter() as settings:
                self._karpenter(settings)
            case GkeComputeClass() as settings:
                for pool in self._pools:
                    spec = gke.compute_class(pool, settings, self._zones(pool))
                    self._object(f"{name}-{pool.name}", *gke.CLASS, pool.name, spec)
            case ClusterApi() as settings:
                self._cluster_api(settings)
        self.register_outputs({})

    def _karpenter(self, settings: Karpenter) -> None:
        provider, ready = settings.provider, list[pulumi.Resource]()
        if not isinstance(provider, Azure):
            source = crd_sources.KARPENTER_AWS if isinstance(provider, Aws) else crd_sources.KARPENTER
            crds = CrdBundle(f"{self._name}-crds", source, context=self._args.context, opts=self.child())
            namespace = Namespace(controller.NAMESPACE, part_of=PART_OF, opts=self.child())
            workload = controller.declare(
                settings,
                provider=provider,
                region=self._args.region,
                part_of=PART_OF,
                namespace=namespace.name,
                catalog=kwok.catalog(((pool, self._zones(pool)) for pool in self._pools), self._args.gpu),
                opts=self.child(depends_on=[crds]),
            )
            ready = [crds, workload]
        for pool in self._pools:
            node_class = _node_class(pool, provider, self._args.gpu)
            owned = self._object(
                f"{self._name}-{pool.name}-class",
                node_class.api_version,
                node_class.kind,
                pool.name,
                node_class.spec,
                after=ready,
            )
            grace = interruptions.grace_period(pool, settings)
            spec = karpenter.node_pool(pool, node_class, self._zones(pool), grace)
            self._object(f"{self._name}-{pool.name}", *karpenter.POOL, pool.name, spec, after=[*ready, owned])

    def _cluster_api(self, settings: ClusterApi) -> None:
        namespace = Namespace(cluster_autoscaler.NAMESPACE, part_of=PART_OF, opts=self.child())
        workload = cluster_autoscaler.declare(settings, part_of=PART_OF, namespace=namespace.name, opts=self.child())
        for pool in self._pools:
            for machines in cluster_api.machine_sets(pool, settings, self._zones(pool), self._args.gpu):
                self._object(
                    f"{self._name}-{machines.name}",
                    cluster_api.API_VERSION,
                    settings.machines,
                    machines.name,
                    machines.spec,
                    after=[workload],
                    namespace=settings.namespace,
                    annotations=machines.annotations,
                )
            if settings.repair_after:
                self._object(
                    f"{self._name}-{pool.name}-repair",
                    *cluster_api_repair.CHECK,
                    pool.name,
                    cluster_api_repair.health_check(pool, settings, settings.repair_after, self._args.gpu),
                    namespace=settings.namespace,
                )

    def _zones(self, pool: NodePool) -> Sequence[str]:
        return pool.zones or self._args.zones

    def _object(
        self,
        resource: str,
        api_version: str,
        kind: str,
        name: str,
        spec: object,
        *,
        after: Sequence[pulumi.Resource] = (),
        namespace: str | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> CustomResource:
        return CustomResource(
            resource,
            api_version=api_version,
            kind=kind,
            metadata=ObjectMetaArgs(
                name=name,
                namespace=namespace,
                labels=names.labels(name, part_of=PART_OF),
                annotations={**WAIT_FOR_NODES, **(annotations or {})},
            ),
            spec=spec,
            opts=self.child(depends_on=list(after)),
        )


def _node_class(pool: NodePool, provider: Aws | Azure | Kwok, gpu: Gpu) -> NodeClass:
    match provider:
        case Aws():
            return aws.node_class(pool, provider, gpu)
        case Azure():
            return azure.node_class(pool, provider, gpu)
        case Kwok():
            return kwok.node_class(pool, provider, gpu)
