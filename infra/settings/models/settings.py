"""The whole of an environment's settings."""

from __future__ import annotations

from infra.settings.models.base import Section
from infra.settings.models.capacity import Capacity
from infra.settings.models.cluster import Cluster
from infra.settings.models.data import Data
from infra.settings.models.mesh import Mesh
from infra.settings.models.scheduling import Scheduling
from infra.settings.models.teams import Team
from infra.settings.models.training import Training


class Values(Section):
    """What base.yaml and an environment's file say together."""

    cluster: Cluster
    """The cluster the platform runs on."""

    capacity: Capacity
    """What has to add up: reserves, prices, and the jobs that must be able to run."""

    data: Data
    """Databases, events and the object store."""

    mesh: Mesh
    """The service mesh and the way in."""

    scheduling: Scheduling
    """Who starts when, where not everybody can."""

    training: Training
    """Distributed training."""

    teams: tuple[Team, ...]
    """Teams that share the platform. A list replaces base.yaml's as a whole."""


class Settings(Values):
    """Validated settings of one environment.

    Args:
        environment: name of the environment, which is its file's name.

    """

    environment: str
    """Name of the environment."""
