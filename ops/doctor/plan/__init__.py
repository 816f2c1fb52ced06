"""What there is to check in an environment: its settings, turned into targets and their checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.doctor.plan.cluster import cluster_target
from ops.doctor.plan.databases import databases
from ops.doctor.plan.events import events
from ops.doctor.plan.object_store import object_store

if TYPE_CHECKING:
    from infra.settings import Settings
    from ops.doctor.cluster.api import KubeApi
    from ops.doctor.examine import Examination


def examinations(settings: Settings, api: KubeApi, context: str, timeout: float) -> list[Examination]:
    """Return everything to check; reads the Secrets that the settings name.

    Args:
        settings: the environment's settings.
        api: the API server of its cluster.
        context: the kubeconfig context of that server.
        timeout: seconds that one answer may take.
    """
    from ops.doctor import cluster
    from ops.doctor.cluster.probe import ClusterProbe
    from ops.doctor.examine import Examination
    from ops.doctor.plan import references

    known = references.References(api)
    outside = [
        *databases(settings, known, timeout),
        *events(settings, known, timeout),
        *object_store(settings, known, timeout),
    ]
    inside = Examination(probe=ClusterProbe(cluster_target(settings, context), api), checks=cluster.CLUSTER)
    named = Examination(probe=references.ReferencesProbe(context, known.faults), checks=references.REFERENCES)
    return [inside, named, *outside]
