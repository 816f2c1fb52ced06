"""Hands the rules to Pulumi, and Pulumi's resources to the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from pulumi_policy import EnforcementLevel, Policy, ResourceValidationPolicy, Severity, StackValidationPolicy
from pulumi_policy.proxy import UnknownValueError

from policies.evaluation import applies, granted
from policies.exemptions import stated
from policies.manifest import SECRET_OUTPUTS, UNKNOWN, Manifest, describe
from policies.rules import RULES, STACK_RULES

if TYPE_CHECKING:
    from pulumi_policy import PolicyResource, ReportViolation, ResourceValidationArgs, StackValidationArgs

    from policies.rule import Guidance, Rule, StackRule

_PROVIDER = "kubernetes:"
_PARTIAL = "Patch"
"""Ends the types that declare a part of an object which something else owns: nothing to judge."""

_EXEMPTIONS = "exemptions"


def policies() -> list[Policy]:
    """Return the pack's policies: every rule as mandatory, and a report of the exemptions in use."""
    declared: dict[str, Manifest] = {}
    return [
        *(_resource_policy(rule, declared) for rule in RULES),
        *(_stack_policy(rule, declared) for rule in STACK_RULES),
        ResourceValidationPolicy(
            name=_EXEMPTIONS,
            description="Exemptions from the rules, and their reasons.",
            enforcement_level=EnforcementLevel.ADVISORY,
            severity=Severity.LOW,
            validate=_report_exemptions,
        ),
    ]


def manifest_of(token: str, props: Mapping[str, object], secret_outputs: Sequence[str]) -> Manifest | None:
    """Return a resource as a manifest; None when it is no whole Kubernetes object.

    Args:
        token: the resource's type, such as `kubernetes:apps/v1:Deployment`.
        props: its properties, which raise on values that a preview cannot know.
        secret_outputs: the properties that the stack's state keeps encrypted.
    """
    if not token.startswith(_PROVIDER) or token.endswith(_PARTIAL):
        return None
    _, version, kind = token.split(":", 2)
    plain = cast("dict[str, object]", _plain(props))
    identity = {"apiVersion": version.removeprefix("core/"), "kind": kind}
    return identity | plain | {SECRET_OUTPUTS: list(secret_outputs)}


def _resource_policy(rule: Rule, declared: dict[str, Manifest]) -> Policy:
    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        manifest = _manifest(args)
        if manifest is None or not applies(rule, manifest):
            return
        declared[args.urn] = manifest
        if granted(rule, manifest) is None:
            for fault in rule.check(manifest):
                report(_message(rule, manifest, fault), args.urn)

    return ResourceValidationPolicy(
        name=rule.name,
        description=_description(rule),
        enforcement_level=EnforcementLevel.MANDATORY,
        severity=Severity.HIGH,
        remediation_steps=rule.remedy,
        validate=validate,
    )


def _stack_policy(rule: StackRule, declared: Mapping[str, Manifest]) -> Policy:
    """Judge what the program declares, as seen resource by resource, rather than what the cluster made of it.

    The API server fills in defaults (one replica), and a preview's outputs may all be unknown.
    """

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        judged = {
            resource.urn: manifest
            for resource in args.resources
            if (manifest := declared.get(resource.urn) or _manifest(resource)) and applies(rule, manifest)
        }
        urns = {id(manifest): urn for urn, manifest in judged.items()}
        for subject, fault in rule.check(list(judged.values())):
            if granted(rule, subject) is None:
                report(_message(rule, subject, fault), urns[id(subject)])

    return StackValidationPolicy(
        name=rule.name,
        description=_description(rule),
        enforcement_level=EnforcementLevel.MANDATORY,
        severity=Severity.HIGH,
        remediation_steps=rule.remedy,
        validate=validate,
    )


def _report_exemptions(args: ResourceValidationArgs, report: ReportViolation) -> None:
    manifest = _manifest(args)
    if manifest is None:
        return
    for exemption, reason in stated(manifest):
        report(f"{describe(manifest)} is exempt by {exemption.annotation}: {reason}", args.urn)


def _description(rule: Guidance) -> str:
    return f"{rule.title} {rule.why}"


def _message(rule: Guidance, manifest: Manifest, fault: str) -> str:
    return f"{describe(manifest)}: {fault}. {rule.remedy}."


def _manifest(resource: ResourceValidationArgs | PolicyResource) -> Manifest | None:
    return manifest_of(resource.resource_type, resource.props, resource.opts.additional_secret_outputs)


def _plain(value: object) -> object:
    """Copy a value out of the SDK's proxies: unknowns become UNKNOWN, whole numbers become integers."""
    if isinstance(value, Mapping):
        properties = cast("Mapping[str, object]", value)
        return {key: _known(lambda key=key: properties[key]) for key in properties}
    if isinstance(value, Sequence) and not isinstance(value, str):
        elements = cast("Sequence[object]", value)
        return [_known(lambda index=index: elements[index]) for index in range(len(elements))]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _known(read: Callable[[], object]) -> object:
    try:
        return _plain(read())
    except UnknownValueError:
        return UNKNOWN
