"""The one way to declare work that is done once: an idempotent script, run again whenever what it is given changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra.core import names, pod, priorities, traffic
from infra.core.component import Component
from infra.core.parts import Container, Permissions, Volume
from infra.core.permissions import Account

if TYPE_CHECKING:
    from infra.settings.models.resources import Resources

RETRIES = 6
"""Failed pods before the Job counts as failed; Kubernetes waits 10 s, 20 s, 40 s … between them."""

DEADLINE_SECONDS = 900
"""How long all tries may take together: a server that is still starting is waited for, a wrong address is not."""

FILES_PATH = "/etc/job"
"""Where the container finds the Job's files."""

SCRATCH_PATH = "/tmp"  # noqa: S108 - a volume of the pod's own
"""The only place where the container may write."""


@dataclass(frozen=True, kw_only=True)
class JobArgs:
    """What a Job is declared from.

    Args:
        namespace: where it runs.
        part_of: the group of components it belongs to.
        container: what runs; it gets `FILES_PATH` and a writable `SCRATCH_PATH` besides its own volumes.
        resources: requests and limits of the container.
        files: contents by file name, shown to the container under `FILES_PATH`; never a secret.
        permissions: what its ServiceAccount may do; most Jobs need nothing of the API server.
        account_annotations: what binds its ServiceAccount to an identity outside the cluster.
    """

    namespace: pulumi.Input[str]
    part_of: str
    container: Container
    resources: Resources
    files: Mapping[str, str]
    permissions: Permissions = field(default_factory=Permissions)
    account_annotations: Mapping[str, str] = field(default_factory=dict[str, str])


class Job(Component):
    """Owns the Job, its files, ServiceAccount and NetworkPolicy; owns nothing that the script makes.

    A Job cannot be changed: one whose pod differs is deleted and made anew, which runs its script again. So does one
    whose files differ, because their digest is in the pod. Scripts are idempotent, and safe to kill at any step.

    Attributes:
        done: what must wait until the work is done; the update itself waits for it too.
    """

    group = "core"

    def __init__(self, name: str, args: JobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        labels = names.labels(name, part_of=args.part_of, version=args.container.image.version)
        metadata = k8s.meta.v1.ObjectMetaArgs(name=name, namespace=args.namespace, labels=labels)
        account = Account(
            name, args.namespace, args.permissions, labels, self.child(), annotations=args.account_annotations
        )
        traffic.network_policy(name, args.namespace, (), labels, self.child())
        files = k8s.core.v1.ConfigMap(name, metadata=metadata, data=dict(args.files), opts=self.child())
        template = pod.template(
            name,
            replace(args.container, volumes=(*args.container.volumes, *_volumes(name))),
            labels=labels,
            resources=args.resources,
            service_account=name,
            api_access=bool(args.permissions),
            spread=False,
            priority=priorities.PLATFORM.name,
            annotations=names.files_digest(args.files),
            restart_policy="Never",
        )
        job = k8s.batch.v1.Job(
            name,
            metadata=metadata,
            spec=k8s.batch.v1.JobSpecArgs(
                backoff_limit=RETRIES, active_deadline_seconds=DEADLINE_SECONDS, template=template
            ),
            opts=self.child(depends_on=[*account.resources, files]),
        )
        self.done: list[pulumi.Resource] = [job]
        self.register_outputs({})


def _volumes(name: str) -> tuple[Volume, ...]:
    return (
        Volume(name="files", path=FILES_PATH, config_map=name),
        Volume(name="scratch", path=SCRATCH_PATH, memory=True, read_only=False),
    )
