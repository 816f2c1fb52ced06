"""What a CRD bundle is: the module it comes from, and the hash of each schema in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from infra.errors import FlotillaError

Manifest: TypeAlias = dict[str, Any]
"""A Kubernetes object as plain JSON data."""


@dataclass(frozen=True, kw_only=True)
class CrdSource:
    """CRDs as a controller's Go module ships them, pinned so that nothing else can take their place.

    The pins alone say whether a bundle changed, so a preview needs neither schema nor network.

    Args:
        module: Go module path, for example `istio.io/api`.
        version: module version, for example `v1.30.1`.
        h1: the module zip's hash as a go.sum line has it, `h1:` and base64.
        paths: shell patterns of the files in the module that hold the CRDs.
        crds: CRD name to fingerprint (`sha256:` and hex), as `flotilla crds pin` prints them.

    """

    module: str
    version: str
    h1: str
    paths: tuple[str, ...]
    crds: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.module}@{self.version}"

    @property
    def digest(self) -> str:
        """The bundle's digest: it changes when any CRD in it does."""
        return fingerprint(dict(self.crds))

    def resources(self) -> dict[str, tuple[str, ...]]:
        """Return the plural names of its kinds by API group, as roles name them."""
        names = sorted(name.split(".", 1) for name in self.crds)
        groups = sorted({group for _, group in names})
        return {group: tuple(plural for plural, its in names if its == group) for group in groups}

    def keeping(self, only: tuple[str, ...]) -> CrdSource:
        """Return the same source with just the CRDs named in `only`.

        Raises:
            FlotillaError: the source has no CRD of that name.

        """
        if unknown := sorted(set(only) - set(self.crds)):
            raise FlotillaError(
                f"no CRD named {', '.join(unknown)}",
                where=str(self),
                remedy=f"It has {', '.join(sorted(self.crds))}",
            )
        return replace(self, crds={name: self.crds[name] for name in sorted(only)})


def canonical(value: object) -> bytes:
    """Return the one JSON encoding of `value` that its fingerprint is taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def fingerprint(value: object) -> str:
    """Return `sha256:` and the hash of a JSON value, independent of key order and spacing."""
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()
