"""Coscheduling: a second kube-scheduler that gives all pods of a job a place, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_kubernetes as k8s
import yaml

from infra import crd_sources, versions
from infra.core import names
from infra.core.availability import LeaderElected
from infra.core.component import Component
from infra.core.crds.bundle import CrdBundle
from infra.core.namespace import Namespace
from infra.core.parts import Container, Permissions, Port, Probe, Probes, Reach, Rule, Volume
from infra.core.workload import Workload, WorkloadArgs

if TYPE_CHECKING:
    from infra.settings.models.gangs import Coscheduling

NAME = "gang-scheduler"
NAMESPACE = "gang-scheduler"
PART_OF = "cluster"

_FOLDER = "/etc/gang-scheduler"
_FILE = "scheduler.yaml"
_SECURE = 10259
_LOOKS_AGAIN_AFTER = "10s"
"""How long a refused group stays refused. The plugin is told neither of new nodes nor of pods that ended, and a group
that fits at last would wait for the queue's own five minutes; twice a minute the queue looks."""
_READ = ("get", "list", "watch")
_WRITE = ("patch", "update")


@dataclass(frozen=True, kw_only=True)
class GangSchedulerArgs:
    """What the scheduler is declared from.

    Args:
        settings: its name, replicas and patience.
        context: the cluster's kubeconfig context, for the schema applied outside the engine.
    """

    settings: Coscheduling
    context: pulumi.Input[str]


class GangScheduler(Component):
    """Owns the schema of PodGroups, and a kube-scheduler with the coscheduling plugin for pods that name it.

    The cluster's own scheduler stays as it is, and both give away the same nodes: the kubelet refuses a pod where they
    collide, and its job makes another. PodGroups get no status: nothing here reads it, and so upstream's controller,
    which writes it, is left out.

    Attributes:
        ready: what must be there before jobs' pods name the scheduler.

    Source: https://github.com/kubernetes-sigs/scheduler-plugins, tag v0.34.7, `pkg/coscheduling` and
    `manifests/install/charts/as-a-second-scheduler`, which has neither a disruption budget nor replicas apart.
    """

    group = "cluster"

    def __init__(self, name: str, args: GangSchedulerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        settings = args.settings
        crds = CrdBundle(f"{name}-crds", crd_sources.SCHEDULER_PLUGINS, context=args.context, opts=self.child())
        namespace = Namespace(NAMESPACE, part_of=PART_OF, opts=self.child())
        files = {_FILE: yaml.safe_dump(configuration(settings), sort_keys=False)}
        config = k8s.core.v1.ConfigMap(
            NAME,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=NAME, namespace=namespace.name, labels=names.labels(NAME, part_of=PART_OF)
            ),
            data=files,
            opts=self.child(),
        )
        workload = Workload(
            NAME,
            WorkloadArgs(
                namespace=namespace.name,
                part_of=PART_OF,
                container=_container(),
                availability=LeaderElected(
                    replicas=settings.replicas, arguments=(f"--config={_FOLDER}/{_FILE}",), lease=NAME
                ),
                resources=settings.resources,
                permissions=PERMISSIONS,
                pod_annotations=names.files_digest(files),
                system_nodes_only=True,
            ),
            opts=self.child(depends_on=[crds, config]),
        )
        self.ready: list[pulumi.Resource] = [crds, workload]
        self.register_outputs({})


def configuration(settings: Coscheduling) -> dict[str, Any]:
    """Return the scheduler's own configuration: one profile, in which pods of one group are sorted side by side."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        # The default is the lease of the cluster's own scheduler, next to which this one would never lead.
        "leaderElection": {"leaderElect": True, "resourceName": NAME, "resourceNamespace": NAMESPACE},
        "profiles": [
            {
                "schedulerName": settings.scheduler_name,
                "plugins": {
                    "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
                    "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]},
                },
                "pluginConfig": [
                    {
                        "name": "Coscheduling",
                        # The plugin gives up a group at once only if more than a tenth of it is missing; the rest of a
                        # smaller gap would hold its GPUs until the wait is over.
                        "args": {"permitWaitingTimeSeconds": settings.wait_seconds, "podGroupRejectPercentage": 0},
                    }
                ],
            }
        ],
    }


def _container() -> Container:
    return Container(
        image=versions.GANG_SCHEDULER,
        command=("kube-scheduler",),
        arguments=(
            # Clients show tokens, no certificates of the front proxy, whose authority is in another namespace.
            "--authentication-skip-lookup=true",
            f"--secure-port={_SECURE}",
            f"--pod-max-in-unschedulable-pods-duration={_LOOKS_AGAIN_AFTER}",
        ),
        ports=[Port(name="https-metrics", number=_SECURE, reach=Reach.CLUSTER)],
        probes=Probes(
            startup=Probe(path="/healthz", port="https-metrics", scheme="HTTPS", period_seconds=2, failures=60),
            readiness=Probe(path="/healthz", port="https-metrics", scheme="HTTPS"),
            liveness=Probe(path="/healthz", port="https-metrics", scheme="HTTPS", period_seconds=20),
        ),
        volumes=[Volume(name="config", path=_FOLDER, config_map=NAME)],
        user=65532,
    )


PERMISSIONS = Permissions(
    cluster=(
        Rule(groups=("",), resources=("namespaces", "replicationcontrollers", "services"), verbs=_READ),
        Rule(groups=("", "events.k8s.io"), resources=("events",), verbs=("create", *_WRITE)),
        Rule(groups=("",), resources=("nodes",), verbs=(*_READ, "patch")),
        Rule(groups=("",), resources=("pods",), verbs=("delete", *_READ, "update")),
        Rule(groups=("",), resources=("bindings", "pods/binding"), verbs=("create",)),
        Rule(groups=("",), resources=("pods/status",), verbs=_WRITE),
        Rule(groups=("",), resources=("persistentvolumeclaims", "persistentvolumes"), verbs=(*_READ, *_WRITE)),
        Rule(groups=("apps",), resources=("replicasets", "statefulsets"), verbs=_READ),
        Rule(groups=("authentication.k8s.io",), resources=("tokenreviews",), verbs=("create",)),
        Rule(groups=("authorization.k8s.io",), resources=("subjectaccessreviews",), verbs=("create",)),
        Rule(groups=("policy",), resources=("poddisruptionbudgets",), verbs=_READ),
        Rule(groups=("resource.k8s.io",), resources=("deviceclasses", "resourceclaims", "resourceslices"), verbs=_READ),
        Rule(groups=("scheduling.x-k8s.io",), resources=("podgroups",), verbs=_READ),
        Rule(
            groups=("storage.k8s.io",),
            resources=("csidrivers", "csinodes", "csistoragecapacities", "storageclasses", "volumeattachments"),
            verbs=_READ,
        ),
    )
)
"""Upstream's ClusterRole at v0.34.7, without kinds of other plugins."""
