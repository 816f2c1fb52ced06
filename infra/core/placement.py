"""Where replicas go that an operator or a chart makes, as plain fields of their pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra.node_labels import HOST, ZONE

if TYPE_CHECKING:
    from collections.abc import Mapping


def spread(selector: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return constraints that spread strictly over zones and hosts, counting only nodes that can be used."""
    return [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "nodeTaintsPolicy": "Honor",
            "labelSelector": {"matchLabels": dict(selector)},
        }
        for key in (ZONE, HOST)
    ]


def apart(selector: Mapping[str, str]) -> dict[str, Any]:
    """Return a `podAntiAffinity` for different hosts, and for different zones where there are enough."""
    term = {"labelSelector": {"matchLabels": dict(selector)}}
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": [{**term, "topologyKey": HOST}],
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 100, "podAffinityTerm": {**term, "topologyKey": ZONE}}
        ],
    }
