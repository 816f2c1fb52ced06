"""What an environment needs of the toolchain besides what all do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.autoscaler import Karpenter, Kwok

if TYPE_CHECKING:
    from infra.settings import Settings


def modules(settings: Settings) -> tuple[str, ...]:
    """Return the toolchain's modules that only some environments need, and this one does."""
    autoscaler = settings.cluster.autoscaler
    simulated = isinstance(autoscaler, Karpenter) and isinstance(autoscaler.provider, Kwok)
    return ("karpenter",) if simulated else ()
