"""How an environment's file overrides base.yaml: maps merge, scalars and lists replace."""

from __future__ import annotations

from infra.settings.tree import Map, Tree


def merge(under: Tree, over: Tree) -> Tree:
    """Return `under` with what `over` says instead.

    Keys keep the order in which they first appear. Each value keeps its origin, so a merged tree still tells
    which file set what. Among trees of one shape merging is associative, and an empty map is its identity.
    """
    if not (isinstance(under, Map) and isinstance(over, Map)):
        return over
    merged = dict(under.entries)
    for key, value in over.entries.items():
        merged[key] = merge(merged[key], value) if key in merged else value
    return Map(merged, over.origin)
