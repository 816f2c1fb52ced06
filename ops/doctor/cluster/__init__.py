"""Checks of the Kubernetes cluster."""

from __future__ import annotations

from ops.doctor.cluster.autoscaler import autoscaler
from ops.doctor.cluster.drivers import gpu_drivers, gpu_parts
from ops.doctor.cluster.gpus import gpus
from ops.doctor.cluster.kinds import crds
from ops.doctor.cluster.nodes import zones
from ops.doctor.cluster.permissions import permissions
from ops.doctor.cluster.pods import pods
from ops.doctor.cluster.queues import queues
from ops.doctor.cluster.refused import refused_pods
from ops.doctor.cluster.server import api, clock, version
from ops.doctor.cluster.storage import default_class
from ops.doctor.cluster.topology import topology

CLUSTER = (
    api,
    clock,
    version,
    crds,
    default_class,
    zones,
    gpus,
    gpu_drivers,
    gpu_parts,
    autoscaler,
    pods,
    refused_pods,
    queues,
    topology,
    permissions,
)
"""What is checked of the cluster that the environment's stack names."""
