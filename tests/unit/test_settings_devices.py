"""What nodes offer follows from their vendor and from how their GPUs are shared, and quotas bound all of it."""

from __future__ import annotations

from typing import Any

import pytest

from infra.settings import Settings
from infra.settings.devices import devices_of, granted, offered
from tests.unit.core.parsing import everything, parse


def settings(**nvidia: Any) -> Settings:
    values = everything().model_dump(mode="json")
    values["cluster"]["gpu"]["nvidia"] |= nvidia
    return parse(Settings, **values)


OFFERED = {
    "system": {},
    "gpu": {"nvidia.com/gpu": 8},
    "gpu-cut": {"nvidia.com/mig-3g.20gb": 8, "nvidia.com/mig-1g.5gb": 32},
    "gpu-turns": {"nvidia.com/gpu.shared": 32},
    "gpu-mps": {"nvidia.com/gpu.shared": 64},
    "gpu-amd": {"amd.com/gpu": 8},
    "neuron": {"aws.amazon.com/neuron": 16},
}


@pytest.mark.parametrize("name", OFFERED)
def test_nodes_offer_what_the_agents_make_of_their_gpus(name: str) -> None:
    cluster = everything().cluster
    (pool,) = [pool for pool in cluster.node_pools if pool.name == name]

    assert devices_of(pool, cluster.gpu) == OFFERED[name]


def test_gpus_cut_alike_are_offered_as_gpus() -> None:
    ways = [
        {
            "name": "cut",
            "kind": "mig",
            "pools": ["gpu-cut"],
            "strategy": "single",
            "slices": [{"profile": "1g.10gb+me", "count": 7}],
        }
    ]
    cluster = settings(sharing=ways).cluster
    (pool,) = [pool for pool in cluster.node_pools if pool.name == "gpu-cut"]

    assert devices_of(pool, cluster.gpu) == {"nvidia.com/gpu": 56}


def test_team_has_a_quota_of_all_that_is_offered() -> None:
    cluster, (team,) = everything().cluster, everything().teams
    quota = team.quota.model_copy(update={"devices": {"amd.com/gpu": 4}})

    assert granted(quota, cluster) == {**dict.fromkeys(offered(cluster), 0), "nvidia.com/gpu": 8, "amd.com/gpu": 4}
