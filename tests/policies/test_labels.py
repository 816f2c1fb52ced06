"""Label selectors, with labels that are known, missing or not known yet."""

from __future__ import annotations

import pytest

from policies.labels import selects
from policies.manifest import UNKNOWN


def _expression(operator: str, *values: object) -> dict[str, object]:
    return {"matchExpressions": [{"key": "tier", "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "labels", "answer"),
    [
        (None, {"tier": "web"}, False),
        ({}, {"tier": "web"}, True),
        ({}, None, True),
        ({"matchLabels": {"tier": "web"}}, {"tier": "web", "more": "x"}, True),
        ({"matchLabels": {"tier": "web"}}, {"tier": "api"}, False),
        ({"matchLabels": {"tier": "web"}}, None, False),
        ({"matchLabels": {"tier": "web"}}, UNKNOWN, None),
        ({"matchLabels": {"tier": UNKNOWN}}, {"tier": "web"}, None),
        ({"matchLabels": {"tier": UNKNOWN, "a": "b"}}, {"tier": "web", "a": "c"}, False),
        (UNKNOWN, {"tier": "web"}, None),
        (_expression("In", "web", "api"), {"tier": "api"}, True),
        (_expression("In", "web"), {"tier": "api"}, False),
        (_expression("In", UNKNOWN), {"tier": "api"}, None),
        (_expression("NotIn", "web"), {"tier": "api"}, True),
        (_expression("NotIn", "web"), {}, True),
        (_expression("NotIn", "api"), {"tier": "api"}, False),
        (_expression("Exists"), {"tier": "api"}, True),
        (_expression("Exists"), {}, False),
        (_expression("DoesNotExist"), {}, True),
        (_expression("DoesNotExist"), {"tier": "api"}, False),
        ({"matchExpressions": [UNKNOWN]}, {"tier": "api"}, None),
    ],
)
def test_selects_answers_as_the_api_server_does(selector: object, labels: object, answer: bool | None) -> None:
    assert selects(selector, labels) is answer
