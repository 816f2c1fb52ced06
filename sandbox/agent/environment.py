"""What a container's environment, command and arguments come to; pure functions over the pod and its sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sandbox.agent.fields import pod_field, resource_field

Json = dict[str, Any]
Lookup = Callable[[str, str], Mapping[str, str] | None]
"""Returns the decoded data of a ConfigMap or Secret by kind and name, or None when it does not exist."""

_REFERENCE = re.compile(r"\$(?:\$|\(([^()\s]*)\))")
_NAME = re.compile(r"[^\x00=]+")


class ConfigError(Exception):
    """A container cannot be created as declared; it is tried again, because what it needs may still come."""


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Replace `$(NAME)` by the variable's value; `$$` stands for a dollar sign, unknown names stay as they are."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return "$"
        return variables.get(name, match.group(0))

    return _REFERENCE.sub(value, text)


def service_variables(services: Iterable[Json]) -> dict[str, str]:
    """Return the variables that tell a pod where its namespace's Services are."""
    variables: dict[str, str] = {}
    for service in services:
        address = service["spec"].get("clusterIP")
        ports = service["spec"].get("ports", [])
        if not address or address == "None" or not ports:
            continue
        prefix = service["metadata"]["name"].upper().replace("-", "_")
        first = ports[0]
        variables[f"{prefix}_SERVICE_HOST"] = address
        variables[f"{prefix}_SERVICE_PORT"] = str(first["port"])
        variables[f"{prefix}_PORT"] = f"{first.get('protocol', 'TCP').lower()}://{address}:{first['port']}"
        for port in ports:
            protocol = port.get("protocol", "TCP")
            if name := port.get("name"):
                variables[f"{prefix}_SERVICE_PORT_{name.upper().replace('-', '_')}"] = str(port["port"])
            stem = f"{prefix}_PORT_{port['port']}_{protocol}"
            variables[stem] = f"{protocol.lower()}://{address}:{port['port']}"
            variables[f"{stem}_PROTO"] = protocol.lower()
            variables[f"{stem}_PORT"] = str(port["port"])
            variables[f"{stem}_ADDR"] = address
    return variables


def environment(
    pod: Json, container: Json, *, services: Mapping[str, str], lookup: Lookup, node: Json | None = None
) -> dict[str, str]:
    """Return the variables a container declares, with everything they refer to filled in.

    Args:
        pod: the pod; its status must have its addresses.
        container: one of its containers.
        services: variables that exist before any declared one.
        lookup: the way to ConfigMaps and Secrets of the pod's namespace.
        node: the pod's node, whose resources count where a container has no limit.

    Raises:
        ConfigError: something referred to does not exist and is not optional.
    """
    variables = dict(services)
    for source in container.get("envFrom", []):
        variables |= _all_of(source, lookup, pod["metadata"]["namespace"])
    for entry in container.get("env", []):
        if "valueFrom" in entry:
            value = _value_from(entry["valueFrom"], pod, container, lookup, node)
            if value is None:
                continue
        else:
            value = expand(entry.get("value", ""), variables)
        variables[entry["name"]] = value
    return variables


def command_line(container: Json, entrypoint: Iterable[str], variables: Mapping[str, str]) -> list[str]:
    """Return the program and arguments a container runs: its command replaces the image's entry point."""
    command = container.get("command") or list(entrypoint)
    return [expand(word, variables) for word in [*command, *container.get("args", [])]]


def _all_of(source: Json, lookup: Lookup, namespace: str) -> dict[str, str]:
    prefix = source.get("prefix", "")
    for kind, field in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
        if reference := source.get(field):
            data = _data(kind, reference, lookup, namespace)
            return {f"{prefix}{key}": value for key, value in (data or {}).items() if _NAME.fullmatch(key)}
    return {}


def _value_from(source: Json, pod: Json, container: Json, lookup: Lookup, node: Json | None) -> str | None:
    namespace = pod["metadata"]["namespace"]
    if reference := source.get("fieldRef"):
        value = pod_field(pod, reference["fieldPath"])
        if value is None:
            raise ConfigError(f"field {reference['fieldPath']} is not supported")
        return value
    if reference := source.get("resourceFieldRef"):
        return resource_field(pod, container, reference, node)
    for kind, field in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
        if reference := source.get(field):
            data = _data(kind, reference, lookup, namespace)
            if data is not None and reference["key"] in data:
                return data[reference["key"]]
            if not reference.get("optional"):
                raise ConfigError(f"couldn't find key {reference['key']} in {kind} {namespace}/{reference['name']}")
            return None
    raise ConfigError(f"a variable's source is not supported: {', '.join(source)}")


def _data(kind: str, reference: Json, lookup: Lookup, namespace: str) -> Mapping[str, str] | None:
    data = lookup(kind, reference["name"])
    if data is None and not reference.get("optional"):
        raise ConfigError(f'{kind.lower()} "{namespace}/{reference["name"]}" not found')
    return data
