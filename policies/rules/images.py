"""Images are pinned: by digest, or by a tag that names a version."""

from __future__ import annotations

import re

from policies.manifest import Manifest, dig
from policies.pods import POD_KINDS, containers
from policies.rule import Rule

MOVING = frozenset({"latest", "stable", "main", "master", "edge", "nightly", "snapshot", "head", "current", "dev"})
"""Words that make a tag follow a branch or a channel, wherever they stand in it."""


def check(manifest: Manifest) -> list[str]:
    """Refuse images whose reference may mean something else tomorrow."""
    return [
        f"{container.label} {fault}"
        for container in containers(manifest)
        if (fault := _fault(dig(container.spec, "image")))
    ]


def _fault(image: object) -> str | None:
    if image is None:
        return "names no image"
    if not isinstance(image, str) or "@sha256:" in image:
        return None
    repository, colon, tag = image.rpartition(":")
    if not colon or not repository or "/" in tag:
        return f"uses {image}, which has no tag"
    if MOVING & set(re.split(r"[-_.+]", tag.lower())) or not any(letter.isdigit() for letter in tag):
        return f"uses {image}, whose tag moves"
    return None


IMAGES = Rule(
    name="images",
    title="Images are pinned by digest or by a version tag.",
    why=(
        "A tag that moves lets two replicas of one Deployment run different programs, changes a cluster "
        "without a review, and cannot be rolled back to."
    ),
    remedy="Pin the image by digest (`@sha256:...`) or by the tag of a release",
    kinds=POD_KINDS,
    check=check,
)
