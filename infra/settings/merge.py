"""How an environment's file overrides base.yaml: maps merge, scalars and lists replace."""

from __future__ import annotations

from infra.settings.tree import Map, Tree


def merge(under: Map, over: Map) -> Map:
    """Return `under` with what `over` says instead.

    Keys keep the order in which they first appear. Each value keeps its origin, so a merged tree still tells
    which file set what. Among trees of one shape merging is associative, and an empty map is its identity.
    """
    merged: dict[str, Tree] = dict(under.entries)
    for key, value in over.entries.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, Map) and isinstance(value, Map) else value
    return Map(merged, over.origin)
