"""The controller that takes and removes snapshots of volumes, for every driver."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from infra import crd_sources, versions
from infra.core.availability import LeaderElected
from infra.core.component import Component
from infra.core.crds.bundle import CrdBundle
from infra.core.parts import Container, Permissions, Probe, Probes, Rule, metrics
from infra.core.workload import Workload, WorkloadArgs
from infra.settings.models.resources import Limits, Requests, Resources
from infra.settings.quantity import Quantity

NAME = "snapshot-controller"
PART_OF = "cluster"
PORT = 8080
HEALTH = "/healthz/leader-election"
API = "snapshot.storage.k8s.io"

RESOURCES = Resources(
    requests=Requests(cpu=Quantity.parse("10m"), memory=Quantity.parse("64Mi")),
    limits=Limits(memory=Quantity.parse("256Mi")),
)

PERMISSIONS = Permissions(
    cluster=(
        Rule(groups=("",), resources=("persistentvolumes",), verbs=("get", "list", "watch")),
        Rule(groups=("",), resources=("persistentvolumeclaims",), verbs=("get", "list", "watch", "update")),
        Rule(groups=("",), resources=("events",), verbs=("list", "watch", "create", "update", "patch")),
        Rule(groups=(API,), resources=("volumesnapshotclasses",), verbs=("get", "list", "watch")),
        Rule(
            groups=(API,),
            resources=("volumesnapshotcontents", "volumesnapshots"),
            verbs=("create", "get", "list", "watch", "update", "patch", "delete"),
        ),
        Rule(
            groups=(API,),
            resources=("volumesnapshotcontents/status", "volumesnapshots/status"),
            verbs=("update", "patch"),
        ),
    )
)


@dataclass(frozen=True, kw_only=True)
class SnapshotControllerArgs:
    """What the controller is declared from.

    Args:
        namespace: where it lives.
        context: the cluster's kubeconfig context, for the schemas applied outside the engine.
    """

    namespace: pulumi.Input[str]
    context: pulumi.Input[str]


class SnapshotController(Component):
    """Runs the snapshot controller. Owns the schemas of snapshots; owns no snapshot and no driver.

    Source: https://github.com/kubernetes-csi/external-snapshotter, `deploy/kubernetes/snapshot-controller` (v8.6.0).

    Attributes:
        ready: what snapshot classes must wait for.
    """

    group = "cluster"

    def __init__(self, name: str, args: SnapshotControllerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        crds = CrdBundle(f"{name}-crds", crd_sources.SNAPSHOTS, context=args.context, opts=self.child())
        Workload(
            NAME,
            WorkloadArgs(
                namespace=args.namespace,
                part_of=PART_OF,
                container=Container(
                    image=versions.SNAPSHOT_CONTROLLER,
                    arguments=(f"--http-endpoint=:{PORT}",),
                    ports=[metrics(PORT)],
                    probes=Probes(
                        readiness=Probe(path=HEALTH, port="http-metrics"),
                        liveness=Probe(path=HEALTH, port="http-metrics", delay_seconds=15),
                    ),
                    user=65532,
                ),
                availability=LeaderElected(
                    replicas=2, arguments=("--leader-election=true",), lease="snapshot-controller-leader"
                ),
                resources=RESOURCES,
                permissions=PERMISSIONS,
            ),
            opts=self.child(depends_on=[crds]),
        )
        self.ready: list[pulumi.Resource] = [crds]
        self.register_outputs({})
