"""What a rule is: a name, the reason for it, the remedy, and a pure function over plain manifests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from policies.exemptions import Exemption
from policies.manifest import Manifest


@dataclass(frozen=True, kw_only=True)
class Guidance:
    """What every rule tells a reader.

    Args:
        name: stable identifier, in kebab case.
        title: what must hold, as a sentence.
        why: the danger it averts.
        remedy: what to do about a violation, as an instruction.
        kinds: the kinds it judges, such as `Deployment.apps`; empty for all.
        exemptions: the ways out of it.
    """

    name: str
    title: str
    why: str
    remedy: str
    kinds: frozenset[str]
    exemptions: tuple[Exemption, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Rule(Guidance):
    """A rule that judges one object by itself.

    Args:
        check: returns what is wrong with an object, each fault a phrase; nothing when all is well.
    """

    check: Callable[[Manifest], list[str]]


class Finding(NamedTuple):
    """A fault found by a rule over many objects, and the object at fault."""

    subject: Manifest
    fault: str


@dataclass(frozen=True, kw_only=True)
class StackRule(Guidance):
    """A rule that judges objects by one another.

    Args:
        check: returns the faults among all objects of a stack, of which `kinds` are what it looks at.
    """

    check: Callable[[Sequence[Manifest]], list[Finding]]
