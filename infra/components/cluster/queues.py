"""Kueue: jobs wait until all of them fits their team's quota, and the flavors of machines that quotas are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_kubernetes as k8s
import yaml
from pulumi_kubernetes.apiextensions import CustomResource

from infra import chart_sources, versions
from infra.core import names, placement, traffic
from infra.core.chart import Chart, ChartArgs
from infra.core.component import Component
from infra.core.namespace import Namespace
from infra.core.parts import Port, Reach, webhook
from infra.settings.topology import MACHINES

if TYPE_CHECKING:
    from infra.settings.models.node_pools import NodePool
    from infra.settings.models.scheduling import Kueue

NAME = "kueue"
NAMESPACE = "kueue-system"
PART_OF = "cluster"
API = "kueue.x-k8s.io/v1beta2"
LEASE = "c1f6bfd2.kueue.x-k8s.io"
BLOCKING = ("NoSchedule", "NoExecute")

FRAMEWORKS = (
    "batch/job",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/jaxjob",
    "kubeflow.org/paddlejob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob",
    "trainer.kubeflow.org/trainjob",
)
"""Kinds that queue. Not MPIJob: Kueue knows only its v2beta1, the training operator only v1."""

UNCOUNTED = ("ephemeral-storage", "hugepages-", "rdma/", "vpc.amazonaws.com/")
"""Prefixes of resources that no quota bounds: a job that requests them must not wait for what never comes."""


@dataclass(frozen=True, kw_only=True)
class QueuesArgs:
    """What queues are declared from.

    Args:
        settings: how jobs queue.
        pools: the cluster's pools; each that teams run on is a flavor.
        levels: labels of nodes by which pods are placed close together, the largest part first, by the pool's name;
            pools that are left out have no topology.
    """

    settings: Kueue
    pools: Sequence[NodePool]
    levels: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


class Queues(Component):
    """Owns Kueue's release where nobody else brings it, each pool's flavor and topology, and who may look at queues.

    A flavor carries its pool's taints: a job goes there only if its pods tolerate them, so none that needs no GPU ever
    takes a GPU node. Each team's queue is the team's own component.

    Attributes:
        ready: what a team's queue must wait for.
        flavors: name of each pool's flavor, by the pool's name.

    Source: https://github.com/kubernetes-sigs/kueue, tag v0.15.2, `charts/kueue` and `config/components`.
    """

    group = "cluster"

    def __init__(self, name: str, args: QueuesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        installed = self._install(args.settings) if args.settings.installed == "install" else []
        pools = [pool for pool in args.pools if pool.purpose != "system"]
        topologies = self._topologies(args, installed)
        self.flavors = {pool.name: _flavor_name(pool, args.levels.get(pool.name)) for pool in pools}
        flavors = [self._flavor(pool, self.flavors[pool.name], topologies.get(pool.name), installed) for pool in pools]
        self._viewers()
        self.ready: list[pulumi.Resource] = [*installed, *flavors]
        self.register_outputs({})

    def _install(self, settings: Kueue) -> list[pulumi.Resource]:
        namespace = Namespace(NAMESPACE, part_of=PART_OF, opts=self.child())
        ports = [
            webhook(9443),
            Port(name="https-visible", number=8082, reach=Reach.ANYWHERE),
            Port(name="https-metrics", number=8443, reach=Reach.CLUSTER),
        ]
        traffic.network_policy(NAME, namespace.name, ports, names.labels(NAME, part_of=PART_OF), self.child())
        chart = Chart(
            NAME,
            ChartArgs(source=chart_sources.KUEUE, namespace=namespace.name, part_of=PART_OF, values=_values(settings)),
            opts=self.child(),
        )
        return chart.ready

    def _topologies(self, args: QueuesArgs, after: list[pulumi.Resource]) -> dict[str, _Named]:
        """Declare each topology once, and return each pool's."""
        called = {name: topology.name for topology in args.settings.topologies for name in topology.pools}
        made: dict[str, _Named] = {}
        found: dict[str, _Named] = {}
        for pool, levels in args.levels.items():
            title = called.get(pool, MACHINES)
            if title not in made:
                name = names.versioned(title, *levels)
                made[title] = _Named(name, self._topology(title, name, levels, after))
            found[pool] = made[title]
        return found

    def _topology(self, title: str, name: str, levels: Sequence[str], after: list[pulumi.Resource]) -> pulumi.Resource:
        return CustomResource(
            f"topology-{title}",
            api_version=API,
            kind="Topology",
            metadata=k8s.meta.v1.ObjectMetaArgs(name=name, labels=names.labels(title, part_of=PART_OF)),
            spec={"levels": [{"nodeLabel": label} for label in levels]},
            opts=self.child(depends_on=after),
        )

    def _flavor(
        self, pool: NodePool, name: str, topology: _Named | None, after: list[pulumi.Resource]
    ) -> pulumi.Resource:
        taints = _taints(pool)
        labels = names.labels(pool.name, part_of=PART_OF) | {names.NODE_POOL: pool.name}
        return CustomResource(
            f"flavor-{pool.name}",
            api_version=API,
            kind="ResourceFlavor",
            metadata=k8s.meta.v1.ObjectMetaArgs(name=name, labels=labels),
            spec={
                "nodeLabels": {names.NODE_POOL: pool.name},
                **({"nodeTaints": taints} if taints else {}),
                **({"topologyName": topology.name} if topology else {}),
            },
            opts=self.child(depends_on=[*after, *([topology.resource] if topology else [])]),
        )

    def _viewers(self) -> None:
        role = "flotilla-queues-view"
        aggregated = {"rbac.authorization.kubeflow.org/aggregate-to-kubeflow-view": "true"}
        k8s.rbac.v1.ClusterRole(
            role,
            metadata=k8s.meta.v1.ObjectMetaArgs(name=role, labels=names.labels(role, part_of=PART_OF) | aggregated),
            rules=[
                k8s.rbac.v1.PolicyRuleArgs(
                    api_groups=["kueue.x-k8s.io"],
                    resources=["localqueues", "workloads"],
                    verbs=["get", "list", "watch"],
                )
            ],
            opts=self.child(),
        )


@dataclass(frozen=True)
class _Named:
    """A topology's object and its name in the cluster."""

    name: str
    resource: pulumi.Resource


def _flavor_name(pool: NodePool, levels: Sequence[str] | None) -> str:
    """Return the flavor's name: with a topology nothing of it may change, so that a change is another flavor."""
    if levels is None:
        return pool.name
    return names.versioned(pool.name, *levels, *(str(sorted(taint.items())) for taint in _taints(pool)))


def _taints(pool: NodePool) -> list[dict[str, Any]]:
    return [taint.model_dump() for taint in pool.taints if taint.effect in BLOCKING]


def _values(settings: Kueue) -> dict[str, Any]:
    """Return what the chart is told: replicas, spread and priority as of any workload of the platform."""
    image = versions.KUEUE
    return {
        "controllerManager": {
            "replicas": settings.replicas,
            "podDisruptionBudget": {"enabled": True, "minAvailable": settings.replicas - 1},
            "topologySpreadConstraints": placement.spread(names.selector(NAME)),
            "manager": {
                "priorityClassName": names.PLATFORM_PRIORITY,
                "image": {"repository": image.repository, "tag": image.tag, "pullPolicy": "IfNotPresent"},
                "resources": settings.resources.as_manifest(),
            },
        },
        "managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(_configuration(settings), sort_keys=False)},
    }


def _configuration(settings: Kueue) -> dict[str, Any]:
    """Return Kueue's own configuration: jobs of teams only, each counted by what quotas bound."""
    ready = {"waitForPodsReady": {"timeout": settings.ready_within}} if settings.ready_within else {}
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": LEASE},
        "managedJobsNamespaceSelector": {"matchExpressions": [{"key": names.TEAM, "operator": "Exists"}]},
        "integrations": {"frameworks": list(FRAMEWORKS)},
        "resources": {"excludeResourcePrefixes": list(UNCOUNTED)},
        **ready,
    }
