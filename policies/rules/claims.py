"""Exemptions are spelt right and give a reason."""

from __future__ import annotations

from difflib import get_close_matches

from policies.exemptions import EXEMPTIONS, FEWEST_WORDS, claimed, is_reason
from policies.manifest import Manifest, annotation
from policies.rule import Rule

_KNOWN = [exemption.annotation for exemption in EXEMPTIONS]


def check(manifest: Manifest) -> list[str]:
    """Refuse annotations that look like an exemption but are none, and those that state no reason."""
    faults: list[str] = []
    for key in claimed(manifest):
        if key not in _KNOWN:
            near = get_close_matches(key, _KNOWN, n=1)
            faults.append(f"{key} is no exemption" + (f"; did you mean {near[0]}?" if near else ""))
        elif not is_reason(annotation(manifest, key)):
            faults.append(f"{key} gives no reason")
    return faults


CLAIMS = Rule(
    name="exemption-reasons",
    title="Exemptions are known ones, and state a reason.",
    why=(
        "An exemption is a decision that a reviewer must be able to judge years later; a misspelt one waives nothing."
    ),
    remedy=f"Write the reason as a sentence of at least {FEWEST_WORDS} words, or remove the annotation",
    kinds=frozenset(),
    check=check,
)
