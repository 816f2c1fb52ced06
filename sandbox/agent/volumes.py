"""What a pod's volumes hold: a pure function over the volume's declaration and its sources."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.agent.atomic_folder import File
from sandbox.agent.fields import pod_field, resource_field

Json = dict[str, Any]

PROJECTED = ("secret", "configMap", "downwardAPI", "projected")
"""Kinds of volumes whose files come from the API server and follow it."""

_DEFAULT_MODE = 0o644


class VolumeError(Exception):
    """A volume cannot be set up yet, or at all."""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where a volume's files come from.

    Args:
        find: returns a ConfigMap or Secret of the pod's namespace by kind and name, or None.
        token: returns a ServiceAccount token for an audience (None: the API server's) and lifetime in seconds.
    """

    find: Callable[[str, str], Json | None]
    token: Callable[[str | None, int], str]


def volume_kind(volume: Json) -> str:
    """Return which kind of volume is declared."""
    return next((key for key in volume if key != "name"), "emptyDir")


def references(pod: Json) -> set[tuple[str, str]]:
    """Return kind and name of every ConfigMap and Secret whose changes the pod's volumes follow."""
    found: set[tuple[str, str]] = set()
    for volume in pod["spec"].get("volumes", []):
        for kind, source in _sources(volume):
            if kind == "secret":
                found.add(("Secret", source.get("secretName") or source.get("name", "")))
            elif kind == "configMap":
                found.add(("ConfigMap", source["name"]))
    return found


def files(pod: Json, volume: Json, sources: Sources) -> dict[str, File]:
    """Return the files of a volume that the API server is the source of.

    Raises:
        VolumeError: an object or key that is not optional does not exist.
    """
    declared = volume[volume_kind(volume)] or {}
    mode = declared.get("defaultMode", _DEFAULT_MODE)
    content: dict[str, File] = {}
    for kind, source in _sources(volume):
        content |= _FILES[kind](pod, source, mode, sources)
    return content


def _sources(volume: Json) -> Iterator[tuple[str, Json]]:
    kind = volume_kind(volume)
    if kind == "projected":
        for source in volume["projected"].get("sources", []):
            for name in _FILES:
                if name in source:
                    yield name, source[name]
    elif kind in _FILES:
        yield kind, volume[kind]


def _from_secret(pod: Json, source: Json, mode: int, sources: Sources) -> dict[str, File]:
    name = source.get("secretName") or source.get("name", "")
    item = _object("Secret", name, source, pod, sources)
    data = {key: base64.b64decode(value) for key, value in (item or {}).get("data", {}).items()}
    return _pick(data, source, mode, f"secret {name}")


def _from_config_map(pod: Json, source: Json, mode: int, sources: Sources) -> dict[str, File]:
    item = _object("ConfigMap", source["name"], source, pod, sources) or {}
    data = {key: value.encode() for key, value in item.get("data", {}).items()}
    data |= {key: base64.b64decode(value) for key, value in item.get("binaryData", {}).items()}
    return _pick(data, source, mode, f"configmap {source['name']}")


def _from_pod(pod: Json, source: Json, mode: int, _: Sources) -> dict[str, File]:
    content: dict[str, File] = {}
    for item in source.get("items", []):
        if reference := item.get("resourceFieldRef"):
            value = resource_field(pod, pod["spec"]["containers"][0], reference)
        else:
            value = pod_field(pod, item["fieldRef"]["fieldPath"]) or ""
        content[item["path"]] = File(value.encode(), item.get("mode", mode))
    return content


def _from_token(_pod: Json, source: Json, mode: int, sources: Sources) -> dict[str, File]:
    token = sources.token(source.get("audience"), source.get("expirationSeconds", 3600))
    return {source["path"]: File(token.encode(), mode)}


_FILES: dict[str, Callable[[Json, Json, int, Sources], dict[str, File]]] = {
    "secret": _from_secret,
    "configMap": _from_config_map,
    "downwardAPI": _from_pod,
    "serviceAccountToken": _from_token,
}


def _object(kind: str, name: str, source: Json, pod: Json, sources: Sources) -> Json | None:
    item = sources.find(kind, name)
    if item is None and not source.get("optional"):
        raise VolumeError(f'{kind.lower()} "{pod["metadata"]["namespace"]}/{name}" not found')
    return item


def _pick(data: dict[str, bytes], source: Json, mode: int, origin: str) -> dict[str, File]:
    items = source.get("items")
    if items is None:
        return {key: File(value, mode) for key, value in data.items()}
    content: dict[str, File] = {}
    for item in items:
        if item["key"] in data:
            content[item["path"]] = File(data[item["key"]], item.get("mode", mode))
        elif not source.get("optional"):
            raise VolumeError(f"{origin} references non-existent key: {item['key']}")
    return content
