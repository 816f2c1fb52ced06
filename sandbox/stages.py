"""How kwok plays nodes and pods, with pods that run as real processes left to the agent."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Collection

Stage = dict[str, Any]


def render(process_images: Collection[str]) -> str:
    """Return kwok's configuration.

    Args:
        process_images: image repositories (no tag, no digest) that run as processes. A pod whose containers
            all use one of them is nobody's but the agent's: kwok neither starts, completes nor deletes it.

    """
    text = resources.files("sandbox").joinpath("config", "stages.yaml").read_text()
    stages: list[Stage] = list(yaml.safe_load_all(text))
    if process_images:
        for stage in stages:
            if stage["spec"]["resourceRef"]["kind"] == "Pod":
                stage["spec"]["selector"]["matchExpressions"].append(simulated_only(process_images))
    return yaml.safe_dump_all(stages, sort_keys=False)


def simulated_only(process_images: Collection[str]) -> dict[str, object]:
    """Return the selector that leaves out pods whose containers all have a process image."""
    repositories = json.dumps(sorted(process_images))
    return {
        "key": (
            r'[.spec.containers[].image | sub("@.*$"; "") | sub(":[^:/]*$"; "")]'
            f" | all(IN({repositories}[]))"
        ),
        "operator": "NotIn",
        "values": ["true"],
    }
