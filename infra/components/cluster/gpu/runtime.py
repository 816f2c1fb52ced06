"""The RuntimeClass of containers that use GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra.core import names
from infra.core.component import Component

if TYPE_CHECKING:
    from infra.settings.models.gpu import RuntimeClass

PART_OF = "cluster"


class GpuRuntime(Component):
    """Owns the RuntimeClass; the runtime behind it is configured by whoever makes the nodes.

    Attributes:
        ready: what pods that name the class must wait for: they are refused before.
    """

    group = "cluster"

    def __init__(self, name: str, settings: RuntimeClass, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        runtime = k8s.node.v1.RuntimeClass(
            settings.name,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=settings.name, labels=names.labels(settings.name, part_of=PART_OF)
            ),
            handler=settings.handler,
            opts=self.child(),
        )
        self.ready: list[pulumi.Resource] = [runtime]
        self.register_outputs({})
