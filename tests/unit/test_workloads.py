"""How many replicas a workload should have, as the summary of an environment counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from ops.workloads import running

if TYPE_CHECKING:
    from sandbox.api import ApiClient

Json = dict[str, Any]


class Api:
    """Answers with lists of objects by the last part of their path."""

    def __init__(self, **lists: list[Json]) -> None:
        self._lists = lists

    def get(self, path: str) -> Json:
        return {"items": self._lists.get(path.partition("?")[0].rpartition("/")[2], [])}


def deployment(replicas: int, ready: int | None = None) -> Json:
    status = {} if ready is None else {"readyReplicas": ready}
    return {"metadata": {"namespace": "mesh", "name": "gateway"}, "spec": {"replicas": replicas}, "status": status}


def autoscaler(floor: int, target: str = "gateway") -> Json:
    return {"metadata": {"namespace": "mesh"}, "spec": {"minReplicas": floor, "scaleTargetRef": {"name": target}}}


@pytest.mark.parametrize(
    ("replicas", "autoscalers", "wanted"),
    [
        pytest.param(2, [], 2, id="as declared"),
        pytest.param(1, [autoscaler(2)], 2, id="autoscaler has not acted yet"),
        pytest.param(5, [autoscaler(2)], 5, id="scaled up under load"),
        pytest.param(1, [autoscaler(3, target="other")], 1, id="another's autoscaler"),
    ],
)
def test_wanted_replicas_include_the_floor_of_the_autoscaler(
    replicas: int, autoscalers: list[Json], wanted: int
) -> None:
    api = Api(deployments=[deployment(replicas, ready=1)], horizontalpodautoscalers=autoscalers)

    (found,) = running(cast("ApiClient", api))

    assert (found.name, found.wanted, found.ready) == ("mesh/gateway", wanted, 1)


def test_workload_without_ready_replicas_has_none() -> None:
    (found,) = running(cast("ApiClient", Api(deployments=[deployment(2)])))

    assert found.ready == 0


def test_daemon_wants_one_on_each_node_it_is_scheduled_to() -> None:
    daemon = {
        "metadata": {"namespace": "nvidia", "name": "plugin"},
        "status": {"desiredNumberScheduled": 3, "numberReady": 2},
    }

    (found,) = running(cast("ApiClient", Api(daemonsets=[daemon])))

    assert (found.wanted, found.ready) == (3, 2)
