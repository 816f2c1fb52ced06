"""The annotations by which an object states why a rule must not hold for it: the only way out of a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.manifest import UNKNOWN, annotation, dig, mapping

if TYPE_CHECKING:
    from policies.manifest import Manifest

PREFIX = "flotilla.dev/"
SUFFIX = "-reason"
FEWEST_WORDS = 3
"""A reason is a sentence for a reviewer, not a tick."""


@dataclass(frozen=True, kw_only=True)
class Exemption:
    """A way out of a rule, open to an object that says why.

    Args:
        annotation: the annotation whose value is the reason.
        use: when it is right to use it.
    """

    annotation: str
    use: str


SINGLETON = Exemption(
    annotation="flotilla.dev/singleton-reason",
    use="A second replica would do harm: duplicate runs, corrupt a store, mint keys twice.",
)
NO_SPREAD = Exemption(
    annotation="flotilla.dev/no-spread-reason",
    use="Where the replicas lie is decided by something else, such as volumes bound to a zone.",
)
NO_PROBES = Exemption(
    annotation="flotilla.dev/no-probes-reason",
    use="The program offers nothing a probe could ask, and its exit is how it tells of trouble.",
)
PRIVILEGED = Exemption(
    annotation="flotilla.dev/privileged-reason",
    use="The workload serves the node itself: devices, the kubelet's sockets, the node's network.",
)
WILDCARD = Exemption(
    annotation="flotilla.dev/wildcard-reason",
    use="The kinds that are acted on are not known in advance, as for a controller of arbitrary objects.",
)
NOT_SECRET = Exemption(
    annotation="flotilla.dev/not-secret-reason",
    use="A value only looks like a secret by its name.",
)
SINGLE_STORE = Exemption(
    annotation="flotilla.dev/single-store-reason",
    use="The store survives the loss of a pod by other means, or nothing in it is worth keeping.",
)

EXEMPTIONS = (SINGLETON, NO_SPREAD, NO_PROBES, PRIVILEGED, WILDCARD, NOT_SECRET, SINGLE_STORE)


def claimed(manifest: Manifest) -> list[str]:
    """Return every annotation that looks like an exemption, known or not."""
    annotations = mapping(dig(manifest, "metadata", "annotations"))
    return [key for key in annotations if key.startswith(PREFIX) and key.endswith(SUFFIX)]


def is_reason(value: object) -> bool:
    """Tell whether an annotation's value states a reason in words; an unknown value may."""
    return value is UNKNOWN or (isinstance(value, str) and len(value.split()) >= FEWEST_WORDS)


def is_exempt(manifest: Manifest, exemption: Exemption) -> bool:
    """Tell whether the object states a reason for this exemption."""
    return is_reason(annotation(manifest, exemption.annotation))


def stated(manifest: Manifest) -> list[tuple[Exemption, str]]:
    """Return the exemptions the object claims with a reason that is known, and the reasons."""
    return [
        (exemption, reason)
        for exemption in EXEMPTIONS
        if isinstance(reason := annotation(manifest, exemption.annotation), str) and is_reason(reason)
    ]
