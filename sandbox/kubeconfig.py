"""Kubeconfig files of a sandbox. They stand alone: the user's own kubeconfig is never touched."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Credential:
    """How one user of a kubeconfig proves who it is: a certificate with its key, or a token."""

    certificate: Path | None = None
    key: Path | None = None
    token: str | None = None

    def fields(self) -> dict[str, str]:
        """Return the user entry of a kubeconfig, with files embedded so that it works from anywhere."""
        if self.token is not None:
            return {"token": self.token}
        if self.certificate is None or self.key is None:
            raise ValueError("a credential is a token, or a certificate and its key")
        return {
            "client-certificate-data": _embedded(self.certificate),
            "client-key-data": _embedded(self.key),
        }


@dataclass(frozen=True, kw_only=True)
class Kubeconfig:
    """One cluster, and one context for each credential; the first context is the current one."""

    cluster: str
    server: str
    authority: Path
    contexts: dict[str, Credential] = field(default_factory=dict[str, Credential])

    def render(self) -> str:
        """Return the file's content."""
        document: dict[str, object] = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": self.cluster,
                    "cluster": {
                        "server": self.server,
                        "certificate-authority-data": _embedded(self.authority),
                    },
                }
            ],
            "users": [{"name": name, "user": who.fields()} for name, who in self.contexts.items()],
            "contexts": [{"name": name, "context": {"cluster": self.cluster, "user": name}} for name in self.contexts],
            "current-context": next(iter(self.contexts)),
        }
        return yaml.safe_dump(document, sort_keys=False)


def _embedded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
