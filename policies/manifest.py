"""Reads plain Kubernetes manifests, including those with values a preview cannot know yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TypeAlias, cast

Manifest: TypeAlias = Mapping[str, object]
"""One Kubernetes object with camelCase keys, as in YAML."""

SECRET_OUTPUTS = "pulumi.secretOutputs"  # noqa: S105 - the name of a key, not a secret
"""Key beside the object's own, present when Pulumi declares it: the properties its state keeps encrypted."""

DEFAULT_NAMESPACE = "default"


class Unknown(Enum):
    """Stands for a value that is not known before the update: no rule may judge it."""

    UNKNOWN = "not known yet"

    def __str__(self) -> str:
        return f"({self.value})"


UNKNOWN = Unknown.UNKNOWN


def dig(value: object, *path: str) -> object:
    """Return what lies at `path`: None where a step is missing, UNKNOWN where a step is unknown."""
    for step in path:
        if value is UNKNOWN:
            return UNKNOWN
        value = mapping(value).get(step)
    return value


def mapping(value: object) -> Mapping[str, object]:
    """Return `value` when it is a mapping, else an empty one."""
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def items(value: object) -> Sequence[object]:
    """Return `value` when it is a list, else an empty one."""
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return cast("Sequence[object]", value)
    return ()


def is_missing(value: object) -> bool:
    """Tell whether nothing was declared: null, an empty text, list or mapping. An unknown is not missing."""
    return value is None or (isinstance(value, str | Mapping | Sequence) and not value)


def group_kind(manifest: Manifest) -> str:
    """Return kind and API group as Kubernetes writes them: `Deployment.apps`, `Pod`."""
    group, slash, _ = str(manifest.get("apiVersion", "")).rpartition("/")
    return f"{manifest.get('kind', '')}{'.' if slash else ''}{group}"


def name(manifest: Manifest) -> object:
    """Return the object's name; None where the API server is to make one."""
    return dig(manifest, "metadata", "name")


def namespace(manifest: Manifest) -> object:
    """Return the object's namespace; `default` where none is declared."""
    return dig(manifest, "metadata", "namespace") or DEFAULT_NAMESPACE


def describe(manifest: Manifest) -> str:
    """Return kind, namespace and name, as a reader knows the object."""
    place = dig(manifest, "metadata", "namespace")
    owner = f"{place}/" if place else ""
    return f"{manifest.get('kind', 'object')} {owner}{name(manifest) or '(unnamed)'}"


def annotation(manifest: Manifest, key: str) -> object:
    """Return one annotation; None where it is not set."""
    return dig(manifest, "metadata", "annotations", key)


def flatten(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return the objects, with those inside `List` objects in their place."""
    flat: list[Manifest] = []
    for manifest in manifests:
        kind = str(manifest.get("kind", ""))
        if kind.endswith("List") and "items" in manifest:
            flat += flatten([mapping(item) for item in items(manifest["items"])])
        elif kind:
            flat.append(manifest)
    return flat
