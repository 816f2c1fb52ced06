"""Checks of the Kubernetes cluster."""

from __future__ import annotations

from ops.doctor.cluster.kinds import crds
from ops.doctor.cluster.nodes import gpus, zones
from ops.doctor.cluster.permissions import permissions
from ops.doctor.cluster.server import api, clock, version
from ops.doctor.cluster.storage import default_class

CLUSTER = (api, clock, version, crds, default_class, zones, gpus, permissions)
"""What is checked of the cluster that the environment's stack names."""
