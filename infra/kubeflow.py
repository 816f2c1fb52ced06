"""The platform, wired: what is declared, in which order, and what each part takes from another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from infra.components.cluster.device_plugin import DevicePlugin, DevicePluginArgs
from infra.components.cluster.foundation import Foundation
from infra.components.cluster.node_pools import NodePools, NodePoolsArgs
from infra.components.cluster.storage import SharedStorage, SharedStorageArgs
from infra.components.mesh.ingress_gateway import IngressGateway, IngressGatewayArgs
from infra.components.mesh.istiod import Istiod, IstiodArgs
from infra.components.ml.training import TrainingOperator, TrainingOperatorArgs
from infra.components.tenancy.roles import TeamRoles
from infra.components.tenancy.team import Team, TeamArgs
from infra.core.namespace import Namespace
from infra.core.provider import cluster_provider
from infra.settings.models.cluster import Karpenter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Platform:
    """What the stack exports.

    Args:
        environment: the environment's name.
        gateway: the ingress gateway's Service, as name.namespace.
        domain: host name of the platform.
        shared_class: the StorageClass of shared volumes.
        teams: the teams' namespaces.
    """

    environment: str
    gateway: pulumi.Output[str]
    domain: str
    shared_class: pulumi.Output[str]
    teams: tuple[str, ...]

    def outputs(self) -> Mapping[str, pulumi.Input[object]]:
        """Return the stack's outputs by name."""
        return {
            "environment": self.environment,
            "gateway": self.gateway,
            "domain": self.domain,
            "sharedStorageClass": self.shared_class,
            "teams": list(self.teams),
        }


def declare(settings: Settings, context: str) -> Platform:
    """Declare the whole platform on the cluster that the kubeconfig context names."""
    cluster, mesh = settings.cluster, settings.mesh
    opts = pulumi.ResourceOptions(provider=cluster_provider(context))

    foundation = Foundation("foundation", opts=opts)
    kubeflow = Namespace("kubeflow", part_of="ml", opts=opts)
    istio_system = Namespace("istio-system", part_of="mesh", opts=opts)

    def after(*ready: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[*foundation.ready, *ready]))

    storage = SharedStorage("shared-storage", SharedStorageArgs(settings=cluster.shared_storage), opts=opts)
    if isinstance(cluster.autoscaler, Karpenter):
        NodePools(
            "node-pools",
            NodePoolsArgs(
                pools=cluster.node_pools,
                karpenter=cluster.autoscaler,
                zones=cluster.zones,
                context=context,
            ),
            opts=opts,
        )
    if cluster.gpu.device_plugin.enabled:
        nvidia = Namespace("nvidia", part_of="cluster", pod_security="privileged", opts=opts)
        DevicePlugin("device-plugin", DevicePluginArgs(settings=cluster.gpu, namespace=nvidia.name), opts=opts)

    istiod = Istiod(
        "istiod",
        IstiodArgs(settings=mesh.istiod, namespace=istio_system.name, context=context),
        opts=after(),
    )
    ingress = IngressGateway(
        "ingress-gateway",
        IngressGatewayArgs(
            settings=mesh.ingress,
            domain=mesh.domain,
            namespace=istio_system.name,
            routes_namespace=kubeflow.name,
        ),
        opts=after(*istiod.ready),
    )

    training = TrainingOperator(
        "training",
        TrainingOperatorArgs(settings=settings.training.operator, namespace=kubeflow.name, context=context),
        opts=after(),
    )

    roles = TeamRoles("team-roles", opts=opts)
    for team in settings.teams:
        Team(
            team.name,
            TeamArgs(settings=team, shared_class=storage.class_name),
            opts=after(roles, *training.ready),
        )
    return Platform(
        environment=settings.environment,
        gateway=ingress.address,
        domain=mesh.domain,
        shared_class=storage.class_name,
        teams=tuple(team.name for team in settings.teams),
    )
