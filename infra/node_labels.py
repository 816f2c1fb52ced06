"""Labels by which the nodes of every cluster tell where they are."""

from __future__ import annotations

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
