"""Rules about teams' names, members, quotas and limits."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from infra.settings.capacity.pools import for_teams, pools_of, together
from infra.settings.devices import NVIDIA
from infra.settings.quantity import Quantity
from infra.settings.rules.rule import Violation, repeated, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.locate import KeyPath
    from infra.settings.models.settings import Settings

RESERVED = frozenset(
    {
        "amd-gpu",
        "auth",
        "aws-neuron",
        "cert-manager",
        "cnpg-system",
        "default",
        "istio-system",
        "karpenter",
        "knative-serving",
        "kubeflow",
        "moco-system",
        "nvidia",
        "oauth2-proxy",
        "pxc-system",
        "rook-ceph",
        "storage-system",
    }
)
RESERVED_PREFIXES = ("flotilla-", "kube-", "kubeflow-")


@rule("teams")
def teams_are_named_once(settings: Settings) -> Iterator[Violation]:
    """Refuse two teams of one name: they would share a namespace."""
    for index, name in repeated(team.name for team in settings.teams):
        yield Violation(("teams", index, "name"), f"another team is called {name}", "Write another name")


@rule("teams")
def teams_stay_out_of_the_platforms_namespaces(settings: Settings) -> Iterator[Violation]:
    """Refuse a team named as a namespace of the platform: its members' rights would reach it."""
    for index, team in enumerate(settings.teams):
        if team.name in RESERVED or team.name.startswith(RESERVED_PREFIXES):
            what = f"{team.name} is a namespace of the platform or of Kubernetes"
            yield Violation(("teams", index, "name"), what, "Write another name")


@rule("teams")
def members_are_named_once(settings: Settings) -> Iterator[Violation]:
    """Refuse one person twice: two roles contradict each other, and the owner has every right already."""
    for number, team in enumerate(settings.teams):
        people = [team.owner, *(member.name for member in team.members)]
        for index, name in repeated(people):
            what = f"{name} is the team's owner already" if name == team.owner else f"{name} is listed twice"
            yield Violation(("teams", number, "members", index - 1, "name"), what, "Remove one")


@rule("teams")
def container_limits_rise(settings: Settings) -> Iterator[Violation]:
    """Refuse defaults above what a container may have, and that above the team's quota."""
    for number, team in enumerate(settings.teams):
        path, limits, quota = ("teams", number, "limits"), team.limits, team.quota
        for key in ("cpu", "memory"):
            steps: list[tuple[str, Quantity | None]] = [
                ("defaultRequest", getattr(limits.default_request, key)),
                ("default", getattr(limits.default, key, None)),
                ("max", getattr(limits.max, key)),
                ("the team's quota", getattr(quota, key)),
            ]
            rising = [(name, amount) for name, amount in steps if amount is not None]
            for (name, amount), (bound, most) in pairwise(rising):
                if amount > most:
                    what = f"{amount} is more than {bound}, {most}"
                    yield Violation((*path, name, key), what, f"Write {most} or less, or raise {bound}")


@rule("capacity", "cluster", "teams")
def containers_fit_a_machine(settings: Settings) -> Iterator[Violation]:
    """Refuse containers larger than what any node of the cpu and gpu pools offers."""
    pools = for_teams(pools_of(settings.cluster, settings.capacity.node_reserve))
    if not pools:
        return
    for number, team in enumerate(settings.teams):
        for key in ("cpu", "memory"):
            most: Quantity = getattr(team.limits.max, key)
            largest = Quantity.of(max(getattr(pool.node, key) for pool in pools), like=most)
            if most > largest:
                what = f"{most} fits on no node: the largest offers {largest}"
                yield Violation(("teams", number, "limits", "max", key), what, f"Write {largest} or less")


@rule("capacity", "cluster", "teams")
def quotas_fit_the_pools(settings: Settings) -> Iterator[Violation]:
    """Refuse a quota above what all cpu and gpu pools hold at their largest: it could never be used."""
    held = together(for_teams(pools_of(settings.cluster, settings.capacity.node_reserve)))
    for number, team in enumerate(settings.teams):
        quota = team.quota
        asked: list[tuple[KeyPath, Quantity | int, str]] = [
            (("cpu",), quota.cpu, "cpu"),
            (("memory",), quota.memory, "memory"),
            (("gpus",), quota.gpus, NVIDIA),
            *((("devices", name), count, name) for name, count in quota.devices.items() if held.device(name)),
        ]
        for path, asks, resource in asked:
            most = held.of(resource)
            amount = asks.value if isinstance(asks, Quantity) else asks
            if amount > most:
                holds = Quantity.of(most, like=asks) if isinstance(asks, Quantity) else most
                what = f"{asks} is more than all cpu and gpu pools hold at their largest, {holds}"
                remedy = f"Write {holds} or less, or raise a pool's nodes.max"
                yield Violation(("teams", number, "quota", *path), what, remedy)
