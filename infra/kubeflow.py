"""The platform, wired: what is declared, in which order, and what each part takes from another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from infra.components.cluster.foundation import Foundation
from infra.components.cluster.gangs.stack import declare_gang_scheduler
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
from infra.settings.gangs import scheduler_name
from infra.settings.models.autoscaler import NoAutoscaler
from infra.settings.models.data.databases import CONSUMERS_NAMESPACE, DATA_NAMESPACE
from infra.settings.models.scheduling import Kueue
from infra.settings.queues import borrow_percent, guarantees
from infra.settings.topology import levels_by_pool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


@dataclass(frozen=True, kw_only=True)
class _Ground:
    """What every part of the platform stands on.

    Args:
        settings: the environment's.
        context: the cluster's kubeconfig context.
        opts: the cluster's provider.
        ready: what everything else waits for.
        kubeflow: namespace of Kubeflow's own workloads.
    """

    settings: Settings
    context: str
    opts: pulumi.ResourceOptions
    ready: Sequence[pulumi.Resource]
    kubeflow: Namespace

    def after(self, *ready: pulumi.Resource) -> pulumi.ResourceOptions:
        """Return options of what waits for the foundation, and for more."""
        waits = pulumi.ResourceOptions(depends_on=[*self.ready, *ready])
        return pulumi.ResourceOptions.merge(self.opts, waits)


def declare(settings: Settings, context: str) -> Platform:
    """Declare the whole platform on the cluster that the kubeconfig context names."""
    opts = pulumi.ResourceOptions(provider=cluster_provider(context))
    ground = _Ground(
        settings=settings,
        context=context,
        opts=opts,
        ready=Foundation("foundation", opts=opts).ready,
        kubeflow=Namespace(CONSUMERS_NAMESPACE, part_of="ml", opts=opts),
    )
    storage = _declare_cluster(ground)
    objects = _declare_data(ground)
    ingress = _declare_mesh(ground)
    training = _declare_training(ground)
    _declare_teams(ground, storage, objects, training)
    return Platform(
        environment=settings.environment,
        gateway=ingress.address,
        domain=settings.mesh.domain,
        shared_class=storage.shared,
        teams=tuple(team.name for team in settings.teams),
    )


def _declare_cluster(ground: _Ground) -> Storage:
    """Declare storage classes, node pools and accelerators."""
    cluster = ground.settings.cluster
    storage = Storage(
        "storage",
        StorageArgs(settings=cluster.storage, context=ground.context),
        opts=pulumi.ResourceOptions.merge(ground.after(), pulumi.ResourceOptions(aliases=[FORMER_STORAGE])),
    )
    if not isinstance(cluster.autoscaler, NoAutoscaler):
        NodePools(
            "node-pools",
            NodePoolsArgs(
                pools=cluster.node_pools,
                autoscaler=cluster.autoscaler,
                gpu=cluster.gpu,
                region=cluster.region,
                zones=cluster.zones,
                context=ground.context,
            ),
            opts=ground.after(),
        )
    declare_accelerators(cluster, ground.after())
    return storage


def _declare_data(ground: _Ground) -> ObjectStore:
    """Declare object store, databases with what their consumers read, and events."""
    settings = ground.settings
    store, block_class = settings.data.object_store, settings.cluster.storage.defaults.block
    teams = [team.name for team in settings.teams]
    data = Namespace(DATA_NAMESPACE, part_of="data", opts=ground.opts)
    objects = ObjectStore(
        "object-store",
        ObjectStoreArgs(
            settings=store,
            namespace=ground.kubeflow.name,
            key_namespaces={DATA_NAMESPACE: data.name},
            teams=teams,
            zones=settings.cluster.zones,
            storage_class=block_class,
        ),
        opts=ground.after(),
    )
    databases = Databases(
        "databases",
        DatabasesArgs(
            databases=settings.data.databases,
            consumers=settings.data.consumers,
            namespace=data.name,
            block_class=block_class,
            store=backup_store(store, inside=objects.inside),
        ),
        opts=ground.after(),
    )
    consumers = Consumers(
        "consumers",
        ConsumersArgs(
            consumers=settings.data.consumers,
            servers=databases.servers,
            namespace=ground.kubeflow.name,
            data_namespace=data.name,
            install_config=objects.install_config,
        ),
        opts=ground.opts,
    )
    for server in databases.servers.values():
        if server.admin:
            Bootstrap(
                server.name,
                BootstrapArgs(server=server, users=consumers.users, namespace=data.name),
                opts=ground.after(),
            )
    Events(
        "events",
        EventsArgs(
            settings=settings.data.events,
            namespace=data.name,
            namespace_name=DATA_NAMESPACE,
            block_class=block_class,
            teams=teams,
        ),
        opts=ground.after(),
    )
    return objects


def _declare_mesh(ground: _Ground) -> IngressGateway:
    """Declare the mesh's control plane and the way in."""
    mesh = ground.settings.mesh
    istio_system = Namespace("istio-system", part_of="mesh", opts=ground.opts)
    istiod = Istiod(
        "istiod",
        IstiodArgs(settings=mesh.istiod, namespace=istio_system.name, context=ground.context),
        opts=ground.after(),
    )
    return IngressGateway(
        "ingress-gateway",
        IngressGatewayArgs(
            settings=mesh.ingress,
            domain=mesh.domain,
            namespace=istio_system.name,
            routes_namespace=ground.kubeflow.name,
        ),
        opts=ground.after(*istiod.ready),
    )


def _declare_training(ground: _Ground) -> TrainingOperator:
    """Declare the training operator, after the scheduler that its pods are to name."""
    gangs = ground.settings.scheduling.gangs
    return TrainingOperator(
        "training",
        TrainingOperatorArgs(
            settings=ground.settings.training.operator,
            namespace=ground.kubeflow.name,
            context=ground.context,
            gang_scheduler=scheduler_name(gangs),
        ),
        opts=ground.after(*declare_gang_scheduler(gangs, ground.context, ground.after())),
    )


def _declare_teams(ground: _Ground, storage: Storage, objects: ObjectStore, training: TrainingOperator) -> None:
    """Declare each team's namespace with all that is in it, and its queue where jobs queue."""
    settings, cluster = ground.settings, ground.settings.cluster
    store, jobs = settings.data.object_store, settings.scheduling.queues
    queues = None
    if isinstance(jobs, Kueue):
        levels = levels_by_pool(cluster, jobs)
        args = QueuesArgs(settings=jobs, pools=cluster.node_pools, levels=levels)
        queues = Queues("queues", args, opts=ground.after())
    pools = for_teams(pools_of(cluster, settings.capacity.node_reserve))
    roles = TeamRoles("team-roles", opts=ground.opts)
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
            opts=ground.after(roles, *training.ready, *(queues.ready if queues else ())),
        )
        if isinstance(jobs, Kueue) and queues:
            TeamQueue(
                f"{team.name}-queue",
                TeamQueueArgs(
                    settings=jobs,
                    namespace=space.namespace,
                    guarantees=guarantees(team, cluster, pools),
                    flavors=queues.flavors,
                ),
                opts=ground.after(*queues.ready),
            )
        TeamVolumes(
            f"{team.name}-volumes",
            TeamVolumesArgs(settings=team, storage=cluster.storage, namespace=space.namespace, classes=storage.classes),
            opts=ground.opts,
        )
        TeamObjects(
            f"{team.name}-objects",
            TeamObjectsArgs(
                store=store, team=team.name, namespace=space.namespace, key=objects.team_keys.get(team.name)
            ),
            opts=ground.opts,
        )
