"""How layers merge, as laws that hold for all values of one shape."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from infra.settings.merge import merge
from infra.settings.tree import Items, Leaf, Map, Origin, Tree, plain

NOWHERE = Origin("nowhere", 0)
SCALARS = st.one_of(st.integers(), st.text(max_size=3), st.booleans(), st.none())
Shape = dict[str, Any]
SHAPES: st.SearchStrategy[Shape] = st.recursive(
    st.dictionaries(st.sampled_from("abcd"), st.none(), max_size=4),
    lambda inner: st.dictionaries(st.sampled_from("abcd"), st.one_of(st.none(), inner), max_size=4),
    max_leaves=8,
)


@st.composite
def layers(draw: st.DrawFn, count: int) -> list[Map]:
    """Draw layers of one shape, each with some of its keys."""
    shape = draw(SHAPES)
    return [_layer(draw, shape) for _ in range(count)]


def _layer(draw: st.DrawFn, shape: Shape) -> Map:
    entries: dict[str, Tree] = {}
    for key, inner in shape.items():
        if not draw(st.booleans()):
            continue
        if inner is not None:
            entries[key] = _layer(draw, inner)
        elif draw(st.booleans()):
            entries[key] = Items(tuple(Leaf(value, NOWHERE) for value in draw(st.lists(SCALARS, max_size=2))), NOWHERE)
        else:
            entries[key] = Leaf(draw(SCALARS), NOWHERE)
    return Map(entries, NOWHERE)


@given(layers(3))
def test_merging_is_associative(trees: list[Map]) -> None:
    one, two, three = trees
    assert merge(merge(one, two), three) == merge(one, merge(two, three))


@given(layers(1))
def test_empty_map_is_the_identity(trees: list[Map]) -> None:
    empty = Map({}, NOWHERE)
    assert merge(trees[0], empty) == trees[0] == merge(empty, trees[0])


@given(layers(1))
def test_merging_twice_changes_nothing(trees: list[Map]) -> None:
    assert merge(trees[0], trees[0]) == trees[0]


@given(layers(2))
def test_merging_leaves_the_layers_as_they_were(trees: list[Map]) -> None:
    before = [plain(tree) for tree in trees]
    merge(trees[0], trees[1])
    assert [plain(tree) for tree in trees] == before


@given(layers(2))
def test_what_the_upper_layer_says_holds(trees: list[Map]) -> None:
    under, over = trees
    _assert_holds(over, merge(under, over))


def _assert_holds(over: Map, merged: Map) -> None:
    for key, value in over.entries.items():
        found = merged.entries[key]
        if isinstance(value, Map) and isinstance(found, Map):
            _assert_holds(value, found)
        else:
            assert found == value


def test_list_replaces_as_a_whole() -> None:
    under = Map({"a": Items((Leaf(1, NOWHERE), Leaf(2, NOWHERE)), NOWHERE)}, NOWHERE)
    over = Map({"a": Items((Leaf(3, NOWHERE),), NOWHERE)}, NOWHERE)
    assert plain(merge(under, over)) == {"a": (3,)}


def test_each_value_keeps_its_origin() -> None:
    under = Map({"a": Leaf(1, Origin("base", 1)), "b": Leaf(1, Origin("base", 2))}, Origin("base", 1))
    over = Map({"b": Leaf(2, Origin("dev", 7))}, Origin("dev", 7))
    assert [tree.origin for tree in merge(under, over).entries.values()] == [Origin("base", 1), Origin("dev", 7)]
