"""Values that are unknown, or of a shape no rule expects, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import policies
from policies.manifest import UNKNOWN
from tests.policies.objects import (
    Object,
    autoscaler,
    budget,
    config_map,
    cron_job,
    daemon_set,
    deployment,
    role,
    secret,
)

Path = tuple[str | int, ...]

PLATFORM: list[Object] = [
    deployment(),
    deployment("single", singleton_reason="two would mint keys twice"),
    autoscaler(target="other"),
    budget(),
    daemon_set(),
    cron_job(),
    role(),
    config_map(app="mode: fast"),
    secret(data={"password": "c2VjdXJl"}),
]
"""One object of each kind that rules look at, none of which breaks any."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=4,
)


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from _paths(inner, (*path, key))


def _replaced(path: Path, value: Any) -> list[Object]:
    copy: Any = deepcopy(PLATFORM)
    parent = copy
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return copy


IDENTITY = {"apiVersion", "kind"}
PATHS = [path for path in _paths(PLATFORM) if len(path) > 1 and path[1] not in IDENTITY]


def test_platform_of_these_tests_breaks_no_rule() -> None:
    assert policies.check(PLATFORM) == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: ".".join(map(str, path)))
def test_unknown_value_is_no_violation_wherever_it_stands(path: Path) -> None:
    assert policies.check(_replaced(path, UNKNOWN)) == []


@given(path=st.sampled_from(PATHS), value=JSON)
def test_unexpected_value_raises_nothing_wherever_it_stands(path: Path, value: object) -> None:
    manifests = _replaced(path, value)

    policies.check(manifests)
    policies.waivers(manifests)
