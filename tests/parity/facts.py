"""What is compared: facts of workloads and roles, each a short text, in sets by aspect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Entry = Mapping[str, Any]
Facts = dict[str, frozenset[str]]
"""Facts by aspect: image, command, ports, permissions and so on."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some objects of a platform, reduced to what upstream's facts hold of each.

    Args:
        workloads: kind, namespace, name, serviceAccountName and containers of each.
        services: namespace, name and ports of each.
        roles: kind, namespace, name, rules, labels and aggregationRule of each.
        bindings: namespace, roleRef and subjects of each.
        webhooks: kind, name and webhooks of each configuration.
    """

    workloads: Sequence[Entry] = field(default=())
    services: Sequence[Entry] = field(default=())
    roles: Sequence[Entry] = field(default=())
    bindings: Sequence[Entry] = field(default=())
    webhooks: Sequence[Entry] = field(default=())


def of_manifests(manifests: Iterable[Mapping[str, Any]]) -> Part:
    """Return the same of plain manifests."""
    flat = [_flat(manifest) for manifest in manifests]

    def ending(*suffixes: str) -> list[Entry]:
        return [entry for entry in flat if entry["kind"].endswith(suffixes)]

    return Part(
        workloads=ending("Deployment", "DaemonSet", "StatefulSet"),
        services=[entry for entry in flat if entry["kind"] == "Service"],
        roles=ending("Role"),
        bindings=ending("RoleBinding"),
        webhooks=ending("WebhookConfiguration"),
    )


def workload(part: Part, name: str) -> Facts:
    """Return the facts of the workload of that name, which has one container, and of what belongs to it."""
    (found,) = [entry for entry in part.workloads if entry["name"] == name]
    (container,) = found["containers"]
    return {
        "image": frozenset([container["image"]]),
        "command": frozenset(container.get("command", [])),
        "arguments": frozenset(container.get("args", [])),
        "environment": frozenset(variable["name"] for variable in container.get("env", [])),
        "ports": frozenset(str(int(port["containerPort"])) for port in container["ports"]),
        "service": _service(part, name, container),
        "permissions": _permissions(part, found),
        "webhooks": _webhooks(part, name),
    }


def role(part: Part, name: str) -> Facts:
    """Return the facts of a role that is not aggregated: what it permits."""
    (found,) = [entry for entry in part.roles if entry["name"] == name]
    return {"permissions": frozenset(_rules(found))}


def roles(part: Part, prefix: str) -> Facts:
    """Return which roles there are."""
    return {"roles": frozenset(entry["name"] for entry in part.roles if entry["name"].startswith(prefix))}


def aggregation(part: Part, names: Sequence[str]) -> Facts:
    """Return which of the aggregated roles include which other, directly or through a third."""
    named = {entry["name"]: entry for entry in part.roles if entry["name"] in names}
    includes = {name: {other for other in names if _selects(named[name], named[other])} for name in names}
    for _ in names:
        for name in names:
            includes[name] |= {third for other in includes[name] for third in includes[other]}
    return {"aggregation": frozenset(f"{name} includes {other}" for name in names for other in includes[name] - {name})}


def _flat(manifest: Mapping[str, Any]) -> Entry:
    pod = manifest.get("spec", {}).get("template", {}).get("spec", {})
    rest = {key: manifest[key] for key in ("rules", "roleRef", "subjects", "webhooks") if key in manifest}
    return {
        "kind": manifest.get("kind", ""),
        **manifest.get("metadata", {}),
        "containers": pod.get("containers", []),
        "serviceAccountName": pod.get("serviceAccountName"),
        "ports": manifest.get("spec", {}).get("ports", []),
        "aggregationRule": manifest.get("aggregationRule"),
        **rest,
    }


def _service(part: Part, name: str, container: Entry) -> frozenset[str]:
    named = {port.get("name"): port["containerPort"] for port in container["ports"]}
    return frozenset(
        f"{int(port['port'])} to {int(named.get(target, target))}"
        for service in part.services
        if service["name"] == name
        for port in service["ports"]
        for target in [port.get("targetPort", port["port"])]
    )


def _permissions(part: Part, found: Entry) -> frozenset[str]:
    account = (found["namespace"], found["serviceAccountName"])
    bound = {
        (binding["roleRef"]["kind"], binding["roleRef"]["name"])
        for binding in part.bindings
        for subject in binding["subjects"]
        if (subject.get("namespace") or binding["namespace"], subject["name"]) == account
    }
    return frozenset(
        f"{fact} in its namespace" if entry["kind"] == "Role" else fact
        for entry in part.roles
        if (entry["kind"], entry["name"]) in bound
        for fact in _rules(entry)
    )


def _rules(entry: Entry) -> Iterable[str]:
    for rule in entry.get("rules") or []:
        limited = f" of {', '.join(rule['resourceNames'])}" if rule.get("resourceNames") else ""
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    yield f"{verb} {resource}{'.' if group else ''}{group}{limited}"


def _webhooks(part: Part, name: str) -> frozenset[str]:
    return frozenset(
        f"{configuration['kind']} {webhook['name']} {webhook['clientConfig']['service']['path']} "
        f"{webhook['failurePolicy']} {' '.join(rule['operations'])} {' '.join(rule['apiGroups'])}"
        f"/{' '.join(rule['apiVersions'])}/{' '.join(rule['resources'])}"
        for configuration in part.webhooks
        for webhook in configuration["webhooks"]
        if webhook["clientConfig"]["service"]["name"] == name
        for rule in webhook["rules"]
    )


def _selects(aggregated: Entry, other: Entry) -> bool:
    selectors = (aggregated.get("aggregationRule") or {}).get("clusterRoleSelectors", [])
    labels = other.get("labels") or {}
    return any(selector["matchLabels"].items() <= labels.items() for selector in selectors)
