from __future__ import annotations

import yaml

from infra.settings.models.autoscaler import Karpenter
from sandbox import demand
from tests.unit.core.parsing import everything, parse
from tests.unit.settings.node_pool_rules import AWS, KWOK


def test_only_an_environment_of_simulated_machines_waits_for_karpenter() -> None:
    settings = everything()

    def needs(autoscaler: str) -> tuple[str, ...]:
        chosen = parse(Karpenter, **yaml.safe_load(autoscaler))
        cluster = settings.cluster.model_copy(update={"autoscaler": chosen})
        return demand.modules(settings.model_copy(update={"cluster": cluster}))

    assert "karpenter" in needs(KWOK)
    assert "karpenter" not in needs(AWS)
