"""Training: the controllers that run distributed jobs."""

from __future__ import annotations

from infra.settings.models.base import Section
from infra.settings.models.resources import Resources
from infra.settings.scalars import HaReplicas, Positive


class TrainingOperatorSettings(Section):
    """The training operator (v1): TFJob, PyTorchJob, XGBoostJob, MPIJob, PaddleJob and JAXJob."""

    replicas: HaReplicas
    """Replicas, of which one leads; at least 2, so that another takes over within seconds."""

    resources: Resources
    """Of each replica; memory grows with the number of jobs and pods watched."""

    threads: Positive
    """Jobs of each kind reconciled at once. Upstream's 1 makes one slow job hold up all others."""

    qps: Positive
    """Requests per second to the API server, sustained. Upstream's 20 takes minutes to start 1,000 pods."""

    burst: Positive
    """Requests to the API server in one burst; not below `qps`."""


class Training(Section):
    """Distributed training."""

    operator: TrainingOperatorSettings
    """The training operator (v1)."""
