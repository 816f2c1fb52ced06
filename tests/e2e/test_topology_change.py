"""A topology that changes: neither it nor its flavor can be edited, so both give way to others and the queues go on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import yaml

from sandbox.cluster import Sandbox
from tests.e2e.queues import ENVIRONMENT, POOL, RACK, Queues, queued_job, start_sandbox, write_values

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
NEAR = {"kueue.x-k8s.io/podset-required-topology": RACK, "kueue.x-k8s.io/podset-group-name": "all"}


@pytest.fixture
def queues(tools: Path, tmp_path: Path) -> Iterator[Queues]:
    """Yield a platform with Kueue and a topology of blocks and racks."""
    settings = write_values(tmp_path / "values")
    own = Sandbox("topology", tmp_path / "sandbox", tools=tools)
    start_sandbox(own, settings)
    try:
        platform = Queues(own, tmp_path)
        platform.ensure_up()
        yield platform
    finally:
        own.down()


def named(queues: Queues, kind: str) -> set[str]:
    return {each["metadata"]["name"] for each in queues.get(f"{KUEUE}/{kind}")["items"]}


def test_changed_levels_replace_topology_and_flavor_while_a_job_runs(queues: Queues, tmp_path: Path) -> None:
    before = {kind: named(queues, kind) for kind in ("topologies", "resourceflavors")}
    first = queues.start(queued_job("first", "language", pods=2, annotations=NEAR))
    queues.eventually(lambda: queues.runs(first), "the first job's run")

    file = tmp_path / "values" / f"{ENVIRONMENT}.yaml"
    values = yaml.safe_load(file.read_text())
    values["scheduling"]["queues"]["topologies"][0]["levels"] = ["rack"]
    file.write_text(yaml.safe_dump(values, sort_keys=False))
    queues.up()

    for kind, names in before.items():
        assert len(named(queues, kind) - names) == len(names - named(queues, kind)) == 1
    assert not [name for name in named(queues, "resourceflavors") & before["resourceflavors"] if name.startswith(POOL)]
    assert queues.runs(first)
    queues.finish(first)
    second = queues.start(queued_job("second", "vision", pods=2, annotations=NEAR))
    queues.eventually(lambda: queues.runs(second), "the second job's run")
    assert len(queues.places(second, RACK)) == 1
