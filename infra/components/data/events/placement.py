"""Where an operator puts the members of a broker: one in each zone and on each host, as plain pod fields."""

from __future__ import annotations

from collections.abc import Mapping

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def spread(selector: Mapping[str, str]) -> list[dict[str, object]]:
    """Return constraints that spread strictly, counting only nodes that can be used."""
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
