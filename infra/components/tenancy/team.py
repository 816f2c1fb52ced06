"""A team: its namespace, what it may use, and who may work in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra.core import names, priorities
from infra.core.component import Component
from infra.core.namespace import security_labels
from infra.settings.capacity.pools import Amounts
from infra.settings.quantity import Quantity
from infra.settings.queues import beyond

if TYPE_CHECKING:
    from infra.settings.models.teams import Amount
    from infra.settings.models.teams import Team as TeamSettings

PART_OF = "tenancy"
RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, kw_only=True)
class TeamArgs:
    """What a team is declared from.

    Args:
        settings: the team's name, people, quota and limits.
        shared_class: name of the StorageClass its share of the shared storage counts against.
        devices: quota of every accelerator that the cluster offers, by resource; Kubernetes bounds no other.
        borrow_percent: how far beyond its quota the team may go while others leave theirs idle, in percent of it.
        account_annotations: what binds its pods' ServiceAccount to an identity outside the cluster.
    """

    settings: TeamSettings
    shared_class: pulumi.Input[str]
    devices: Mapping[str, int]
    borrow_percent: int = 0
    account_annotations: Mapping[str, str] = field(default_factory=dict[str, str])


class Team(Component):
    """Owns the namespace, its quota, limits, access and network rules; owns nothing that the team runs in it.

    Training images often run as root, so pods are held to the `baseline` profile and warned of what falls short of
    `restricted`.

    Attributes:
        namespace: the team's namespace, as an output that waits for it.
    """

    group = "tenancy"

    def __init__(self, name: str, args: TeamArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._labels = names.labels(name, part_of=PART_OF) | {names.TEAM: name}
        self._settings = args.settings
        namespace = k8s.core.v1.Namespace(
            name,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=name,
                labels=self._labels | security_labels("baseline") | {"app.kubernetes.io/part-of": "kubeflow-profile"},
                annotations={"owner": args.settings.owner},
            ),
            opts=self.child(),
        )
        self.namespace: pulumi.Output[str] = namespace.metadata.name
        self._limits()
        self._network()
        self._access(args.account_annotations)
        self._quota(args.shared_class, args.devices, args.borrow_percent)
        self._priorities()
        self.register_outputs({"namespace": self.namespace})

    def _meta(self, name: str, annotations: Mapping[str, str] | None = None) -> k8s.meta.v1.ObjectMetaArgs:
        return k8s.meta.v1.ObjectMetaArgs(
            name=name, namespace=self.namespace, labels=self._labels, annotations=dict(annotations or {}) or None
        )

    def _quota(self, shared_class: pulumi.Input[str], devices: Mapping[str, int], borrow_percent: int) -> None:
        quota = self._settings.quota
        own = Amounts(cpu=quota.cpu.value, memory=quota.memory.value, devices=devices)
        most = own + beyond(own, borrow_percent)
        claimed = pulumi.Output.from_input(shared_class).apply(
            lambda name: {f"{name}.storageclass.storage.k8s.io/requests.storage": str(quota.shared_storage)}
        )
        hard = claimed.apply(
            lambda storage: {
                "requests.cpu": str(Quantity.of(most.cpu, like=quota.cpu)),
                "requests.memory": str(Quantity.of(most.memory, like=quota.memory)),
                **{f"requests.{resource}": str(count) for resource, count in most.devices.items()},
                "pods": str(quota.pods),
                **storage,
            }
        )
        k8s.core.v1.ResourceQuota(
            f"{self._settings.name}-quota",
            metadata=self._meta("quota"),
            spec=k8s.core.v1.ResourceQuotaSpecArgs(hard=hard),
            opts=self.child(),
        )

    def _priorities(self) -> None:
        """Admit no pod of a class that the team may not name: it could end pods of other teams, or the platform's."""
        refused = [
            *priorities.RESERVED,
            *(each.name for word, each in priorities.OF_TEAMS.items() if word not in self._settings.priorities),
        ]
        k8s.core.v1.ResourceQuota(
            f"{self._settings.name}-priorities",
            metadata=self._meta("priorities"),
            spec=k8s.core.v1.ResourceQuotaSpecArgs(
                hard={"pods": "0"},
                scope_selector=k8s.core.v1.ScopeSelectorArgs(
                    match_expressions=[
                        k8s.core.v1.ScopedResourceSelectorRequirementArgs(
                            scope_name="PriorityClass", operator="In", values=refused
                        )
                    ]
                ),
            ),
            opts=self.child(),
        )

    def _limits(self) -> None:
        """Bound each container. Kubernetes needs some default for CPU, and any below the most would refuse requests."""
        limits = self._settings.limits
        k8s.core.v1.LimitRange(
            f"{self._settings.name}-limits",
            metadata=self._meta("limits"),
            spec=k8s.core.v1.LimitRangeSpecArgs(
                limits=[
                    k8s.core.v1.LimitRangeItemArgs(
                        type="Container",
                        default={"cpu": str(limits.max.cpu), "memory": str(limits.default.memory)},
                        default_request=_amount(limits.default_request),
                        max=_amount(limits.max),
                    )
                ]
            ),
            opts=self.child(),
        )

    def _network(self) -> None:
        """Let a team's pods reach one another, for distributed training, and nobody else reach them."""
        k8s.networking.v1.NetworkPolicy(
            f"{self._settings.name}-same-namespace",
            metadata=self._meta("same-namespace"),
            spec=k8s.networking.v1.NetworkPolicySpecArgs(
                pod_selector=k8s.meta.v1.LabelSelectorArgs(),
                policy_types=["Ingress"],
                ingress=[
                    k8s.networking.v1.NetworkPolicyIngressRuleArgs(
                        from_=[k8s.networking.v1.NetworkPolicyPeerArgs(pod_selector=k8s.meta.v1.LabelSelectorArgs())]
                    )
                ],
            ),
            opts=self.child(),
        )

    def _access(self, annotations: Mapping[str, str]) -> None:
        people = {"admin": [self._settings.owner], "edit": [], "view": []}
        for member in self._settings.members:
            people[member.role].append(member.name)
        for role, members in people.items():
            if not members:
                continue
            k8s.rbac.v1.RoleBinding(
                f"{self._settings.name}-{role}",
                metadata=self._meta(f"team-{role}"),
                role_ref=k8s.rbac.v1.RoleRefArgs(api_group=RBAC, kind="ClusterRole", name=f"kubeflow-{role}"),
                subjects=[
                    k8s.rbac.v1.SubjectArgs(api_group=RBAC, kind="User", name=person)
                    for person in dict.fromkeys(members)
                ],
                opts=self.child(),
            )
        account = k8s.core.v1.ServiceAccount(
            f"{self._settings.name}-default-editor",
            metadata=self._meta("default-editor", annotations),
            opts=self.child(),
        )
        k8s.rbac.v1.RoleBinding(
            f"{self._settings.name}-default-editor",
            metadata=self._meta("default-editor"),
            role_ref=k8s.rbac.v1.RoleRefArgs(api_group=RBAC, kind="ClusterRole", name="kubeflow-edit"),
            subjects=[
                k8s.rbac.v1.SubjectArgs(kind="ServiceAccount", name=account.metadata.name, namespace=self.namespace)
            ],
            opts=self.child(),
        )


def _amount(amount: Amount) -> dict[str, str]:
    return {"cpu": str(amount.cpu), "memory": str(amount.memory)}
