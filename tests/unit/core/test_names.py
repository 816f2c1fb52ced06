"""Names, labels and annotations: frozen, because selectors, policies and alerts of running clusters rely on them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.core import names

LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")

FROZEN = {
    "DOMAIN": "flotilla.dev",
    "AVAILABILITY": "flotilla.dev/availability",
    "SINGLETON_REASON": "flotilla.dev/singleton-reason",
    "PRIVILEGED_REASON": "flotilla.dev/privileged-reason",
    "NO_PROBES_REASON": "flotilla.dev/no-probes-reason",
    "NODE_PURPOSE": "flotilla.dev/purpose",
    "NODE_POOL": "flotilla.dev/pool",
    "TEAM": "flotilla.dev/team",
    "CHART_DIGEST": "flotilla.dev/chart-digest",
    "FILES_DIGEST": "flotilla.dev/files-digest",
    "PLATFORM_PRIORITY": "flotilla-platform",
    "SERVING_PRIORITY": "flotilla-serving",
    "TRAINING_PRIORITY": "flotilla-training",
    "BATCH_PRIORITY": "flotilla-batch",
    "MAX_NAME": 63,
}

valid_names = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,180}[a-z0-9])?", fullmatch=True)
long_names = st.from_regex(r"[a-z0-9][-a-z0-9.]{62,180}[a-z0-9]", fullmatch=True)


@pytest.mark.parametrize(("constant", "value"), FROZEN.items())
def test_constants_are_frozen(constant: str, value: object) -> None:
    assert getattr(names, constant) == value


def test_every_constant_is_frozen() -> None:
    assert {name for name in vars(names) if name.isupper() and not name.startswith("_")} == FROZEN.keys()


def test_labels_are_frozen() -> None:
    assert names.labels("boat", part_of="fleet", version="v1.2.3") == {
        "app.kubernetes.io/name": "boat",
        "app.kubernetes.io/part-of": "fleet",
        "app.kubernetes.io/managed-by": "flotilla",
        "app.kubernetes.io/version": "v1.2.3",
    }


def test_labels_name_no_version_where_nothing_runs() -> None:
    assert "app.kubernetes.io/version" not in names.labels("boat", part_of="fleet")


def test_selector_is_frozen() -> None:
    assert names.selector("boat") == {"app.kubernetes.io/name": "boat"}


def test_shortened_names_are_frozen() -> None:
    assert names.bounded("a" * 64) == "a" * 54 + "-ffe054fe"


def test_names_of_versions_are_frozen() -> None:
    assert names.versioned("gpu", "rack", "host") == "gpu-8c10a899"


@given(name=valid_names, one=st.lists(valid_names, max_size=3), other=st.lists(valid_names, max_size=3))
def test_names_of_versions_fit_and_differ_with_their_content(name: str, one: list[str], other: list[str]) -> None:
    assert len(names.versioned(name, *one)) <= names.MAX_NAME
    assert (names.versioned(name, *one) == names.versioned(name, *other)) == (one == other)


@given(name=valid_names)
def test_selector_is_among_the_labels(name: str) -> None:
    assert names.selector(name).items() <= names.labels(name, part_of="fleet", version="v1").items()


@given(name=valid_names)
def test_label_values_are_valid_however_long_the_name(name: str) -> None:
    assert all(LABEL_VALUE.fullmatch(value) for value in names.labels(name, part_of="x", version=name).values())


@given(name=valid_names, limit=st.integers(16, 63))
def test_bounded_names_fit(name: str, limit: int) -> None:
    assert len(names.bounded(name, limit)) <= limit


@given(name=valid_names)
def test_bounded_leaves_alone_what_fits(name: str) -> None:
    if len(name) <= names.MAX_NAME:
        assert names.bounded(name) == name


@given(name=valid_names, limit=st.integers(16, 63))
def test_bounded_twice_changes_nothing_more(name: str, limit: int) -> None:
    assert names.bounded(names.bounded(name, limit), limit) == names.bounded(name, limit)


@given(one=long_names, other=long_names)
def test_bounded_keeps_different_names_different(one: str, other: str) -> None:
    assert (names.bounded(one) == names.bounded(other)) == (one == other)


@given(prefix=long_names, one=valid_names, other=valid_names)
def test_bounded_keeps_names_different_that_differ_at_their_ends(prefix: str, one: str, other: str) -> None:
    assert (names.bounded(prefix + one) == names.bounded(prefix + other)) == (one == other)
