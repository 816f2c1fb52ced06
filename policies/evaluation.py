"""Applies the rules to plain manifests without an engine, as rendering and the golden tests do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from policies.exemptions import Exemption, is_exempt, stated
from policies.manifest import Manifest, describe, flatten, group_kind
from policies.rule import Finding, Guidance, Rule
from policies.rules import RULES, STACK_RULES


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A mandatory rule that an object breaks.

    Attributes:
        rule: the rule's name.
        subject: the object, as `Kind namespace/name`.
        fault: what is wrong with it.
        remedy: what to do.
    """

    rule: str
    subject: str
    fault: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.fault} [{self.rule}]. {self.remedy}"


@dataclass(frozen=True, kw_only=True)
class Waiver:
    """An exemption that an object claims with a reason.

    Attributes:
        subject: the object, as `Kind namespace/name`.
        annotation: the annotation that states the reason.
        reason: the reason.
        rules: the rules it waives; empty when it is not needed and can go.
    """

    subject: str
    annotation: str
    reason: str
    rules: tuple[str, ...]


def applies(rule: Guidance, manifest: Manifest) -> bool:
    """Tell whether the rule judges objects of this kind."""
    return not rule.kinds or group_kind(manifest) in rule.kinds


def granted(rule: Guidance, manifest: Manifest) -> Exemption | None:
    """Return the exemption from the rule that the object states a reason for, if it does."""
    return next((each for each in rule.exemptions if is_exempt(manifest, each)), None)


def check(manifests: Sequence[Manifest]) -> list[Violation]:
    """Return every violation of every mandatory rule, in the order of rules and objects."""
    return [
        Violation(rule=rule.name, subject=describe(subject), fault=fault, remedy=rule.remedy)
        for rule, (subject, fault) in _findings(flatten(manifests))
        if granted(rule, subject) is None
    ]


def waivers(manifests: Sequence[Manifest]) -> list[Waiver]:
    """Return every exemption claimed with a reason, and which rules it waives."""
    flat = flatten(manifests)
    used: dict[tuple[int, Exemption], dict[str, None]] = defaultdict(dict)
    for rule, (subject, _) in _findings(flat):
        if exemption := granted(rule, subject):
            used[id(subject), exemption][rule.name] = None
    return [
        Waiver(
            subject=describe(manifest),
            annotation=exemption.annotation,
            reason=reason,
            rules=tuple(used[id(manifest), exemption]),
        )
        for manifest in flat
        for exemption, reason in stated(manifest)
    ]


def _findings(manifests: Sequence[Manifest]) -> list[tuple[Guidance, Finding]]:
    found: list[tuple[Guidance, Finding]] = []
    for rule in RULES:
        found += _each(rule, manifests)
    for rule in STACK_RULES:
        judged = [manifest for manifest in manifests if applies(rule, manifest)]
        found += [(rule, finding) for finding in rule.check(judged)]
    return found


def _each(rule: Rule, manifests: Sequence[Manifest]) -> list[tuple[Guidance, Finding]]:
    return [
        (rule, Finding(manifest, fault))
        for manifest in manifests
        if applies(rule, manifest)
        for fault in rule.check(manifest)
    ]
