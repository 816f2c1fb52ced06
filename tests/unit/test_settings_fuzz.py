"""However values are damaged, loading ends with settings or with problems that name a place."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.settings import Problem, SettingsError, load
from tests.unit.settings.folder import FIXTURES, make

BASE: dict[str, Any] = yaml.safe_load((FIXTURES / "base.yaml").read_text(encoding="utf-8"))
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), max_size=8),
    st.just({}),
    st.just([]),
    st.just({"kind": "x", "driver": "y"}),
    st.just([{"a": 1}]),
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """Draw the valid base with one to three values replaced, removed or given to an unknown key."""
    values = copy.deepcopy(BASE)
    for _ in range(draw(st.integers(1, 3))):
        parent: Any = values
        while True:
            keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(parent[key], dict | list) and draw(st.integers(0, 3)):
                parent = parent[key]
                continue
            _damage(draw, parent, key)
            break
    return yaml.safe_dump(values, allow_unicode=True)


def _damage(draw: st.DrawFn, parent: Any, key: Any) -> None:
    match draw(st.sampled_from(["replace", "remove", "rename"])):
        case "replace":
            parent[key] = copy.deepcopy(draw(JUNK))
        case "remove":
            del parent[key]
        case _ if isinstance(parent, dict):
            parent[f"{key}s"] = parent.pop(key)
        case _:
            parent.append(copy.deepcopy(draw(JUNK)))


@settings(max_examples=60, deadline=None)
@given(damaged())
def test_damaged_values_end_in_settings_or_located_problems(text: str) -> None:
    for problem in problems_of(text):
        assert problem.line > 0
        assert problem.remedy
        assert "is not valid:" not in problem.what


def problems_of(text: str) -> tuple[Problem, ...]:
    with tempfile.TemporaryDirectory() as folder:
        values = make(Path(folder), "mesh: {}")
        (values / "base.yaml").write_text(text, encoding="utf-8")
        try:
            load("dev", values)
        except SettingsError as error:
            return error.problems
    return ()
