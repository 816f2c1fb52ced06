from __future__ import annotations

import yaml

from infra.settings.models.autoscaler import Karpenter
from infra.settings.models.gangs import Coscheduling, Gangs, NoGangs
from infra.settings.models.scheduling import Kueue, NoQueues
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


def test_only_an_environment_that_installs_kueue_waits_for_it() -> None:
    settings = everything()

    def needs(queues: NoQueues | Kueue) -> bool:
        scheduling = settings.scheduling.model_copy(update={"queues": queues})
        return "kueue" in demand.modules(settings.model_copy(update={"scheduling": scheduling}))

    queues = settings.scheduling.queues
    assert isinstance(queues, Kueue)
    assert needs(queues.model_copy(update={"installed": "install"}))
    assert not needs(queues.model_copy(update={"installed": "present"}))
    assert not needs(parse(NoQueues, kind="none"))


def test_only_an_environment_that_installs_coscheduling_waits_for_it() -> None:
    settings = everything()

    def needs(gangs: Gangs) -> bool:
        scheduling = settings.scheduling.model_copy(update={"gangs": gangs})
        return "scheduler-plugins" in demand.modules(settings.model_copy(update={"scheduling": scheduling}))

    gangs = settings.scheduling.gangs
    assert isinstance(gangs, Coscheduling)
    assert needs(gangs)
    assert not needs(gangs.model_copy(update={"installed": "present"}))
    assert not needs(parse(NoGangs, kind="none"))
