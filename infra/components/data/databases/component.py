"""Every database server of the settings: others' are only described, operated ones are declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra.components.data.databases import moco, percona, postgresql
from infra.components.data.databases.recipe import BackupStore, ClusterArgs, Operator, Recipe
from infra.core import names
from infra.core.chart import Chart, ChartArgs
from infra.core.component import Component
from infra.core.database import Credentials, Server
from infra.core.namespace import Namespace
from infra.settings.models.data.databases import (
    CONSUMERS_NAMESPACE,
    DATA_NAMESPACE,
    OperatedDatabase,
)

if TYPE_CHECKING:
    from infra.settings.models.data.databases import Consumers, Database
    from infra.settings.models.data.databases import Operator as OperatorName

PART_OF = "data"
PATIENCE_SECONDS = 120
"""How long a server that runs already may take to answer: a failover in the middle fits."""

STARTING_SECONDS = 780
"""How long a new cluster may take until it takes writes; less than a Job's deadline."""

OPERATORS: Mapping[OperatorName, tuple[Operator, Callable[[ClusterArgs], Recipe]]] = {
    "cloudnative-pg": (postgresql.OPERATOR, postgresql.recipe),
    "moco": (moco.OPERATOR, moco.recipe),
    "percona-xtradb": (percona.OPERATOR, percona.recipe),
}


@dataclass(frozen=True, kw_only=True)
class DatabasesArgs:
    """What the databases are declared from.

    Args:
        databases: the servers by name.
        consumers: who uses which.
        namespace: where clusters run.
        block_class: StorageClass of clusters that name none.
        store: where backups go; None where the object store is none that operators can write to.
    """

    databases: Mapping[str, Database]
    consumers: Consumers
    namespace: pulumi.Input[str]
    block_class: str
    store: BackupStore | None


class Databases(Component):
    """Owns the operators it installs and the clusters they run; owns no schema, user or grant in any of them.

    A cluster that leaves the settings stays in Kubernetes, with its data: deleting that is a decision of its own.

    Attributes:
        servers: every server by its name, for those who prepare and use it.
    """

    group = "data"

    def __init__(self, name: str, args: DatabasesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._args = args
        self._operators: dict[OperatorName, list[pulumi.Resource]] = {}
        self.servers = {key: self._server(key, database) for key, database in args.databases.items()}
        self.register_outputs({})

    def _server(self, name: str, database: Database) -> Server:
        if isinstance(database, OperatedDatabase):
            return self._cluster(name, database)
        admin = database.admin
        return Server(
            name=name,
            engine=database.engine,
            hosts=database.hosts,
            port=database.listens_at,
            tls=database.tls,
            pool=database.pool,
            admin=admin
            and Credentials(secret=admin.secret, username_key=admin.username_key, password_key=admin.password_key),
            starting_seconds=PATIENCE_SECONDS,
        )

    def _cluster(self, name: str, settings: OperatedDatabase) -> Server:
        users = [
            key
            for key in type(self._args.consumers).model_fields
            if getattr(self._args.consumers, key).database == name
        ]
        recipe = OPERATORS[settings.operator][1](
            ClusterArgs(
                name=name,
                settings=settings,
                namespace=DATA_NAMESPACE,
                storage_class=settings.storage.storage_class or self._args.block_class,
                store=self._args.store,
                consumers=len(users),
                keyless="metadata" in users,
                native="metadata" in users,
            )
        )
        ready = self._declare(name, settings, recipe)
        return Server(
            name=name,
            engine=settings.engine,
            hosts=(recipe.host,),
            port=recipe.clients,
            tls=recipe.tls,
            pool=settings.pool,
            admin=recipe.admin,
            starting_seconds=STARTING_SECONDS,
            ready=ready,
        )

    def _declare(self, name: str, settings: OperatedDatabase, recipe: Recipe) -> list[pulumi.Resource]:
        before = self._operator(settings)
        after = self.child(depends_on=before)
        made: list[pulumi.Resource] = [*before]
        if recipe.config:
            metadata = self._meta(name)
            made.append(k8s.core.v1.ConfigMap(name, metadata=metadata, data=dict(recipe.config), opts=after))
        if recipe.account:
            role = dict(self._args.store.role) if self._args.store else {}
            made.append(
                k8s.core.v1.ServiceAccount(
                    f"{name}-backup",
                    metadata=self._meta(f"{name}-backup", role),
                    automount_service_account_token=False,
                    opts=self.child(),
                )
            )
        for each in recipe.objects:
            made.append(
                k8s.apiextensions.CustomResource(
                    f"{name}-{each.kind.lower()}",
                    api_version=each.api,
                    kind=each.kind,
                    metadata=self._meta(name),
                    spec=each.spec,
                    opts=pulumi.ResourceOptions(parent=self, depends_on=[*made], retain_on_delete=True),
                )
            )
        self._traffic(name, recipe)
        if settings.pod_monitor:
            k8s.apiextensions.CustomResource(
                f"{name}-podmonitor",
                api_version="monitoring.coreos.com/v1",
                kind="PodMonitor",
                metadata=self._meta(name),
                spec={
                    "selector": {"matchLabels": dict(recipe.instances)},
                    "podMetricsEndpoints": list(recipe.metrics),
                },
                opts=self.child(),
            )
        return made

    def _traffic(self, name: str, recipe: Recipe) -> None:
        """Admit clients to their port, one another and bootstrap Jobs to every port, and scrapers to metrics."""
        consumers = k8s.meta.v1.LabelSelectorArgs(match_labels={"kubernetes.io/metadata.name": CONSUMERS_NAMESPACE})
        everything = k8s.meta.v1.LabelSelectorArgs()
        rule, peer = k8s.networking.v1.NetworkPolicyIngressRuleArgs, k8s.networking.v1.NetworkPolicyPeerArgs
        k8s.networking.v1.NetworkPolicy(
            name,
            metadata=self._meta(name),
            spec=k8s.networking.v1.NetworkPolicySpecArgs(
                pod_selector=k8s.meta.v1.LabelSelectorArgs(match_labels={**recipe.instances}),
                policy_types=["Ingress"],
                ingress=[
                    rule(from_=[peer(pod_selector=everything)]),
                    rule(from_=[peer(namespace_selector=consumers)], ports=_ports(recipe.clients)),
                    rule(from_=[peer(namespace_selector=everything)], ports=_ports(*recipe.watched)),
                ],
            ),
            opts=self.child(),
        )

    def _operator(self, settings: OperatedDatabase) -> list[pulumi.Resource]:
        """Install the operator, once, unless the platform brings it."""
        if settings.installed == "present":
            return []
        if settings.operator not in self._operators:
            self._operators[settings.operator] = self._install(OPERATORS[settings.operator][0])
        return self._operators[settings.operator]

    def _install(self, operator: Operator) -> list[pulumi.Resource]:
        namespace = Namespace(operator.namespace, part_of=PART_OF, pod_security="baseline", opts=self.child())
        everything = k8s.meta.v1.LabelSelectorArgs()
        k8s.networking.v1.NetworkPolicy(
            operator.namespace,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name="operator",
                namespace=namespace.name,
                labels=names.labels(operator.namespace, part_of=PART_OF),
            ),
            spec=k8s.networking.v1.NetworkPolicySpecArgs(
                pod_selector=everything,
                policy_types=["Ingress"],
                ingress=[
                    k8s.networking.v1.NetworkPolicyIngressRuleArgs(
                        from_=[k8s.networking.v1.NetworkPolicyPeerArgs(pod_selector=everything)]
                    ),
                    # The API server calls webhooks from outside the pod network.
                    k8s.networking.v1.NetworkPolicyIngressRuleArgs(ports=_ports(*operator.webhooks)),
                ],
            ),
            opts=self.child(),
        )
        ready: list[pulumi.Resource] = []
        for source, values in operator.charts.items():
            chart = Chart(
                source.chart,
                ChartArgs(source=source, namespace=namespace.name, part_of=PART_OF, values=values),
                opts=self.child(depends_on=[*ready]),
            )
            ready += chart.ready
        return ready

    def _meta(self, name: str, annotations: Mapping[str, str] | None = None) -> k8s.meta.v1.ObjectMetaArgs:
        return k8s.meta.v1.ObjectMetaArgs(
            name=name,
            namespace=self._args.namespace,
            labels=names.labels(name, part_of=PART_OF),
            annotations=dict(annotations or {}) or None,
        )


def _ports(*numbers: int) -> list[k8s.networking.v1.NetworkPolicyPortArgs]:
    return [k8s.networking.v1.NetworkPolicyPortArgs(port=number, protocol="TCP") for number in numbers]
