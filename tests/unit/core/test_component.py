"""What all components have in common."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s

from infra.core.component import Component
from tests.unit.core.recording import record


class Boat(Component):
    group = "fleet"

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self.register_outputs({})


class Convoy(Component):
    group = "fleet"

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        first = Boat(f"{name}-first", opts=self.child())
        Boat(f"{name}-second", opts=self.child(depends_on=[first]))
        self.register_outputs({})


def test_token_is_made_of_group_and_class() -> None:
    assert [resource.type for resource in record(lambda: Boat("one")).resources] == ["flotilla:fleet:Boat"]


def test_children_are_named_below_their_parent() -> None:
    identities = {resource.identity for resource in record(lambda: Convoy("convoy")).resources}

    assert identities == {
        "flotilla:fleet:Convoy::convoy",
        "flotilla:fleet:Convoy$flotilla:fleet:Boat::convoy-first",
        "flotilla:fleet:Convoy$flotilla:fleet:Boat::convoy-second",
    }


def test_children_inherit_no_option_but_their_parent() -> None:
    def declare() -> None:
        pilot = k8s.core.v1.ConfigMap("pilot", metadata={"name": "pilot"})
        Convoy("convoy", pulumi.ResourceOptions(depends_on=[pilot]))

    after = {resource.urn.rpartition("::")[2]: resource.after for resource in record(declare).resources}

    assert len(after["convoy"]) == 1
    assert after["convoy-first"] == frozenset()
