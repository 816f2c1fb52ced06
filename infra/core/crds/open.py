"""Open schemas: CRDs made from nothing but what a custom resource is called, for where its maker's cannot be had.

They admit whatever is written, so they serve a cluster in which no controller acts on it. They never take the place of
a maker's schema, whose defaults a controller counts on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from infra.core.crds.pins import Manifest
from infra.core.names import DOMAIN

OPEN = f"{DOMAIN}/open-schema"
"""Annotation of a CRD that was made here."""


@dataclass(frozen=True, kw_only=True, order=True)
class Identity:
    """What a custom resource is called.

    Args:
        group: API group.
        kind: kind.
        namespaced: whether its objects lie in namespaces.
    """

    group: str
    kind: str
    namespaced: bool

    @property
    def plural(self) -> str:
        """The kind's name in addresses, as every generator of CRDs derives it."""
        word = self.kind.lower()
        if word.endswith(("s", "x", "ch", "sh")):
            return f"{word}es"
        return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"

    @property
    def name(self) -> str:
        """Name of its CRD."""
        return f"{self.plural}.{self.group}"


def open_crd(identity: Identity, versions: Iterable[str]) -> Manifest:
    """Return a CRD that serves these versions and admits any object; the last of them is stored."""
    ordered = sorted(set(versions))
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": identity.name, "annotations": {OPEN: "true"}},
        "spec": {
            "group": identity.group,
            "scope": "Namespaced" if identity.namespaced else "Cluster",
            "names": {
                "kind": identity.kind,
                "listKind": f"{identity.kind}List",
                "plural": identity.plural,
                "singular": identity.kind.lower(),
            },
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == ordered[-1],
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                }
                for version in ordered
            ],
        },
    }
