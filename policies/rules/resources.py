"""Every container requests what it needs and limits its memory."""

from __future__ import annotations

from policies.manifest import Manifest, dig, is_missing
from policies.pods import POD_KINDS, containers
from policies.rule import Rule

REQUIRED = (("requests", "cpu"), ("requests", "memory"), ("limits", "memory"))


def check(manifest: Manifest) -> list[str]:
    """Refuse containers without CPU and memory requests and a memory limit; a CPU limit is a choice."""
    return [
        f"{container.label} has no {', '.join(missing)}"
        for container in containers(manifest)
        if (
            missing := [
                f"resources.{part}.{resource}"
                for part, resource in REQUIRED
                if is_missing(dig(container.spec, "resources", part, resource))
            ]
        )
    ]


RESOURCES = Rule(
    name="resources",
    title="Every container requests CPU and memory, and limits its memory.",
    why=(
        "Without requests the scheduler overfills nodes, autoscalers cannot compute and a namespace's quota "
        "refuses the pod; without a memory limit one leak takes its neighbours down."
    ),
    remedy="Set resources.requests.cpu, resources.requests.memory and resources.limits.memory",
    kinds=POD_KINDS,
    check=check,
)
