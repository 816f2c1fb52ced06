"""A small environment for capacity's tests: whole numbers, so that sums can be done in the head."""

from __future__ import annotations

from typing import Any

from infra.settings import Settings
from infra.settings.capacity.pools import Pool, for_teams, pools_of
from tests.unit.core.parsing import everything, parse

SYSTEM = {
    "name": "system",
    "purpose": "system",
    "instanceType": "s",
    "machine": {"cpu": 4, "memory": "16Gi"},
    "nodes": {"min": 3, "max": 3},
}
CPU = {
    "name": "cpu",
    "purpose": "cpu",
    "instanceType": "c",
    "machine": {"cpu": 10, "memory": "100Gi"},
    "nodes": {"min": 0, "max": 6},
}
GPU = {
    "name": "gpu",
    "purpose": "gpu",
    "instanceType": "g",
    "machine": {"cpu": 100, "memory": "1000Gi", "gpus": 8, "accelerator": "A100"},
    "zones": ["a", "b"],
    "nodes": {"min": 0, "max": 4},
    "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
}
PRICES: dict[str, Any] = {
    "currency": "EUR",
    "source": "a test",
    "asOf": "2026-01-31",
    "machines": [
        {"instanceType": "s", "onDemand": 1},
        {"instanceType": "c", "onDemand": 2, "spot": 0.5},
        {"instanceType": "g", "onDemand": 40},
    ],
}


KUEUE: dict[str, Any] = {
    "kind": "kueue",
    "installed": "present",
    "resources": {"requests": {"cpu": 1, "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
}


def team(name: str = "vision", *, cpu: int = 100, memory: str = "1000Gi", gpus: int = 16, pods: int = 50) -> Any:
    """Return a team as values write it."""
    return {
        "name": name,
        "owner": f"{name}@example.com",
        "quota": {"cpu": cpu, "memory": memory, "gpus": gpus, "pods": pods, "sharedStorage": "1Ti"},
        "limits": {
            "defaultRequest": {"cpu": "100m", "memory": "256Mi"},
            "default": {"memory": "4Gi"},
            "max": {"cpu": 90, "memory": "900Gi"},
        },
    }


def environment(
    *pools: dict[str, Any],
    teams: list[Any] | None = None,
    fixed: bool = False,
    prices: dict[str, Any] | None = None,
    jobs: list[Any] | None = None,
    reserve: dict[str, Any] | None = None,
    borrow_percent: int | None = None,
) -> Settings:
    """Return the settings of an environment of these pools; the three above where none are given."""
    values = everything().model_dump(mode="json")
    values["cluster"]["nodePools"] = list(pools) or [SYSTEM, CPU, GPU]
    if fixed:
        values["cluster"]["autoscaler"] = {"kind": "none"}
    values["teams"] = [team()] if teams is None else teams
    values["capacity"] = {"nodeReserve": reserve or {"cpu": 0, "memory": 0}, "prices": prices, "jobs": jobs or []}
    values["scheduling"]["queues"] = (
        {"kind": "none"} if borrow_percent is None else {**KUEUE, "borrowPercent": borrow_percent}
    )
    return parse(Settings, **values)


def shared(settings: Settings) -> tuple[Pool, ...]:
    """Return the pools that teams' pods run on."""
    return for_teams(pools_of(settings.cluster, settings.capacity.node_reserve))
