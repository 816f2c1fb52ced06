"""Compares two sets of facts and judges the differences by those that are accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tests.parity.facts import Facts


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """Differences that are meant, and why.

    Args:
        subject: what differs.
        aspect: in which respect.
        reason: why it is meant.
        missing: shell patterns of facts that upstream has and we have not.
        added: shell patterns of facts that we have and upstream has not.
    """

    subject: str
    aspect: str
    reason: str
    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def faults(subject: str, upstream: Facts, ours: Facts, accepted: Sequence[Accepted]) -> list[str]:
    """Return each difference that is not accepted, and each accepted one that there is not."""
    found: list[str] = []
    for aspect in sorted({*upstream, *ours, *(each.aspect for each in accepted if each.subject == subject)}):
        theirs, its = upstream.get(aspect, frozenset()), ours.get(aspect, frozenset())
        listed = [each for each in accepted if (each.subject, each.aspect) == (subject, aspect)]
        for sign, differing, patterns in (
            ("-", theirs - its, [pattern for each in listed for pattern in each.missing]),
            ("+", its - theirs, [pattern for each in listed for pattern in each.added]),
        ):
            where = f"{subject}, {aspect}: {sign}"
            found += [f"{where} {fact}" for fact in sorted(differing) if not _matched([fact], patterns)]
            found += [
                f"{where} {pattern} is accepted, but there is no such difference"
                for pattern in patterns
                if not _matched(differing, [pattern])
            ]
    return found


def _matched(facts: Sequence[str] | frozenset[str], patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(fact, pattern) for fact in facts for pattern in patterns)
