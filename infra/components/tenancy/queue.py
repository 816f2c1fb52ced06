"""A team's queue: what it is guaranteed of each pool, what it may borrow, and who gives way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from infra.core import names
from infra.core.component import Component
from infra.settings.quantity import Quantity
from infra.settings.queues import beyond

if TYPE_CHECKING:
    from infra.settings.capacity.pools import Amounts
    from infra.settings.models.scheduling import Kueue

API = "kueue.x-k8s.io/v1beta2"
PART_OF = "tenancy"
COHORT = "teams"
"""The cohort of all teams: what one leaves idle the others may borrow."""

LOCAL = "default"
"""Kueue puts jobs that name no queue into the one of this name, so teams need not learn it."""

RECLAIM = {"never": "Never", "lower-priority": "LowerPriority", "any": "Any"}


@dataclass(frozen=True, kw_only=True)
class TeamQueueArgs:
    """What a team's queue is declared from.

    Args:
        settings: how jobs queue.
        namespace: the team's namespace.
        guarantees: what each pool guarantees the team, by the pool's name, in the order pools are tried.
        flavors: name of each pool's flavor, by the pool's name.
    """

    settings: Kueue
    namespace: pulumi.Input[str]
    guarantees: Mapping[str, Amounts]
    flavors: Mapping[str, str]


class TeamQueue(Component):
    """Owns the team's ClusterQueue and the LocalQueue by which its jobs get there."""

    group = "tenancy"

    def __init__(self, name: str, args: TeamQueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        team = name.removesuffix("-queue")
        labels = names.labels(team, part_of=PART_OF) | {names.TEAM: team}
        settings = args.settings
        queue = CustomResource(
            f"{name}-cluster",
            api_version=API,
            kind="ClusterQueue",
            metadata=ObjectMetaArgs(name=team, labels=labels),
            spec={
                "cohortName": COHORT,
                "namespaceSelector": {"matchLabels": {names.TEAM: team}},
                "queueingStrategy": "BestEffortFIFO",
                "preemption": {
                    "withinClusterQueue": "LowerPriority" if settings.preempt_own else "Never",
                    "reclaimWithinCohort": RECLAIM[settings.reclaim],
                },
                "resourceGroups": [
                    _group(
                        {args.flavors[pool]: amounts for pool, amounts in args.guarantees.items()},
                        settings.borrow_percent,
                    )
                ],
            },
            opts=self.child(),
        )
        CustomResource(
            f"{name}-local",
            api_version=API,
            kind="LocalQueue",
            metadata=ObjectMetaArgs(name=LOCAL, namespace=args.namespace, labels=labels),
            spec={"clusterQueue": team},
            opts=self.child(depends_on=[queue]),
        )
        self.register_outputs({})


def _group(guarantees: Mapping[str, Amounts], percent: int) -> dict[str, Any]:
    """Return the one resource group, of guarantees by flavor: each counts every resource, as Kueue demands."""
    devices = sorted({name for amounts in guarantees.values() for name in amounts.devices})
    covered = ["cpu", "memory", *devices]
    return {
        "coveredResources": covered,
        "flavors": [
            {"name": flavor, "resources": _resources(amounts, covered, percent)}
            for flavor, amounts in guarantees.items()
        ],
    }


def _resources(amounts: Amounts, covered: Sequence[str], percent: int) -> list[dict[str, str]]:
    more = beyond(amounts, percent)
    return [
        {"name": name, "nominalQuota": _text(amounts, name), "borrowingLimit": _text(more, name)} for name in covered
    ]


def _text(amounts: Amounts, name: str) -> str:
    return str(Quantity(amounts.of(name), "binary" if name == "memory" else "decimal"))
