"""The platform, wired: what is declared, in which order, and what each part takes from another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from infra.components.cluster.foundation import Foundation
from infra.components.cluster.gpu.stack import declare_accelerators
from infra.components.cluster.node_pools.component import NodePools, NodePoolsArgs
from infra.components.cluster.queues import Queues, QueuesArgs
from infra.components.cluster.storage.component import Storage, StorageArgs
from infra.components.data.bootstrap import Bootstrap, BootstrapArgs
from infra.components.data.consumers.component import Consumers, ConsumersArgs
from infra.components.data.databases.component import Databases, DatabasesArgs
from infra.components.data.databases.stores import backup_store
from infra.components.data.events.component import Events, EventsArgs
from infra.components.data.object_store.access import team_identity
from infra.components.data.object_store.component import ObjectStore, ObjectStoreArgs
from infra.components.data.object_store.team import TeamObjects, TeamObjectsArgs
from infra.components.mesh.ingress_gateway import IngressGateway, IngressGatewayArgs
from infra.components.mesh.istiod import Istiod, IstiodArgs
from infra.components.ml.training import TrainingOperator, TrainingOperatorArgs
from infra.components.tenancy.queue import TeamQueue, TeamQueueArgs
from infra.components.tenancy.roles import TeamRoles
from infra.components.tenancy.team import Team, TeamArgs
from infra.components.tenancy.volumes.component import TeamVolumes, TeamVolumesArgs
from infra.core.namespace import Namespace
from infra.core.provider import cluster_provider
from infra.settings.capacity.pools import for_teams, pools_of
from infra.settings.devices import granted
from infra.settings.models.autoscaler import NoAutoscaler
from infra.settings.models.data.databases import CONSUMERS_NAMESPACE, DATA_NAMESPACE
from infra.settings.models.scheduling import Kueue
from infra.settings.queues import borrow_percent, guarantees

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.settings import Settings


FORMER_STORAGE = pulumi.Alias(name="shared-storage", type_="flotilla:cluster:SharedStorage")
"""What the component of all storage classes was called when there was only the shared one."""


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
    kubeflow = Namespace(CONSUMERS_NAMESPACE, part_of="ml", opts=opts)
    data = Namespace(DATA_NAMESPACE, part_of="data", opts=opts)
    istio_system = Namespace("istio-system", part_of="mesh", opts=opts)

    def after(*ready: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[*foundation.ready, *ready]))

    storage = Storage(
        "storage",
        StorageArgs(settings=cluster.storage, context=context),
        opts=pulumi.ResourceOptions.merge(after(), pulumi.ResourceOptions(aliases=[FORMER_STORAGE])),
    )
    if not isinstance(cluster.autoscaler, NoAutoscaler):
        NodePools(
            "node-pools",
            NodePoolsArgs(
                pools=cluster.node_pools,
                autoscaler=cluster.autoscaler,
                region=cluster.region,
                zones=cluster.zones,
                context=context,
            ),
            opts=after(),
        )
    declare_accelerators(cluster, after())

    store = settings.data.object_store
    objects = ObjectStore(
        "object-store",
        ObjectStoreArgs(
            settings=store,
            namespace=kubeflow.name,
            key_namespaces={DATA_NAMESPACE: data.name},
            teams=[team.name for team in settings.teams],
            zones=cluster.zones,
            storage_class=cluster.storage.defaults.block,
        ),
        opts=after(),
    )
    databases = Databases(
        "databases",
        DatabasesArgs(
            databases=settings.data.databases,
            consumers=settings.data.consumers,
            namespace=data.name,
            block_class=cluster.storage.defaults.block,
            store=backup_store(store, inside=objects.inside),
        ),
        opts=after(),
    )
    consumers = Consumers(
        "consumers",
        ConsumersArgs(
            consumers=settings.data.consumers,
            servers=databases.servers,
            namespace=kubeflow.name,
            data_namespace=data.name,
            install_config=objects.install_config,
        ),
        opts=opts,
    )
    for server in databases.servers.values():
        if server.admin:
            Bootstrap(
                server.name,
                BootstrapArgs(server=server, users=consumers.users, namespace=data.name),
                opts=after(),
            )

    Events(
        "events",
        EventsArgs(
            settings=settings.data.events,
            namespace=data.name,
            namespace_name=DATA_NAMESPACE,
            block_class=cluster.storage.defaults.block,
            teams=[team.name for team in settings.teams],
        ),
        opts=after(),
    )

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

    jobs = settings.scheduling.queues
    queues: list[pulumi.Resource] = []
    if isinstance(jobs, Kueue):
        queues = Queues("queues", QueuesArgs(settings=jobs, pools=cluster.node_pools), opts=after()).ready
    pools = for_teams(pools_of(cluster, settings.capacity.node_reserve))
    roles = TeamRoles("team-roles", opts=opts)
    for team in settings.teams:
        space = Team(
            team.name,
            TeamArgs(
                settings=team,
                shared_class=storage.shared,
                devices=granted(team.quota, cluster),
                borrow_percent=borrow_percent(jobs),
                account_annotations=team_identity(store, team.name).annotations,
            ),
            opts=after(roles, *training.ready),
        )
        if isinstance(jobs, Kueue):
            TeamQueue(
                f"{team.name}-queue",
                TeamQueueArgs(
                    settings=jobs,
                    namespace=space.namespace,
                    guarantees=guarantees(team, cluster, pools),
                ),
                opts=after(*queues),
            )
        TeamVolumes(
            f"{team.name}-volumes",
            TeamVolumesArgs(settings=team, storage=cluster.storage, namespace=space.namespace, classes=storage.classes),
            opts=opts,
        )
        TeamObjects(
            f"{team.name}-objects",
            TeamObjectsArgs(
                store=store, team=team.name, namespace=space.namespace, key=objects.team_keys.get(team.name)
            ),
            opts=opts,
        )
    return Platform(
        environment=settings.environment,
        gateway=ingress.address,
        domain=mesh.domain,
        shared_class=storage.shared,
        teams=tuple(team.name for team in settings.teams),
    )
