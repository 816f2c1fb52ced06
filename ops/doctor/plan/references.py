"""Secrets and ConfigMaps that the settings name, read from the cluster."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from infra.settings.models.data.databases import DATA_NAMESPACE
from ops.doctor.check import Verdict, Verdicts, check, fail, ok
from ops.doctor.cluster.api import NOT_FOUND, KubeError
from ops.doctor.secret import Secret
from ops.doctor.targets import Login, Tls

if TYPE_CHECKING:
    from infra.settings.models.data.common import CaRef, SecretRef
    from infra.settings.models.data.common import Tls as TlsSettings
    from ops.doctor.cluster.api import KubeApi

Holder: TypeAlias = Literal["secret", "configMap"]
_PLURAL: dict[Holder, str] = {"secret": "secrets", "configMap": "configmaps"}
_TITLE: dict[Holder, str] = {"secret": "Secret", "configMap": "ConfigMap"}
_CREATE: dict[Holder, str] = {"secret": "secret generic", "configMap": "configmap"}
_FORBIDDEN = 403


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A reference that leads nowhere.

    Args:
        path: where the settings name it.
        what: what is wrong.
        run: what to run.
    """

    path: str
    what: str
    run: str


class References:
    """Looks up what the settings name; what is missing is noted, and looked up no more.

    Args:
        api: the API server.
    """

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self._objects: dict[tuple[Holder, str, str], dict[str, str] | None] = {}
        self._silent = False
        self.faults: list[Fault] = []

    def login(self, ref: SecretRef, path: str) -> Login | None:
        """Return the user and password of a reference, None where it leads nowhere."""
        keys = (ref.username_key, ref.password_key)
        found = self._values("secret", ref.secret, ref.namespace, keys, path)
        if found is None:
            return None
        user, password = found
        return Login(user=user, password=Secret(password), source=f"Secret {ref.namespace}/{ref.secret}")

    def pair(self, name: str, namespace: str, keys: tuple[str, str], path: str) -> Login | None:
        """Return the two entries of a Secret as a user and a password, None where it leads nowhere."""
        found = self._values("secret", name, namespace, keys, path)
        if found is None:
            return None
        return Login(user=found[0], password=Secret(found[1]), source=f"Secret {namespace}/{name}")

    def authority(self, ref: CaRef | None, path: str) -> str | None:
        """Return the certificates of a reference in PEM, None where there is none or it leads nowhere."""
        if ref is None:
            return None
        found = self._values(ref.kind, ref.name, ref.namespace, (ref.key,), path)
        return found[0] if found else None

    def tls(self, settings: TlsSettings, path: str) -> Tls | None:
        """Return how connections are protected, certificates included, None where one of them is missing."""
        certificate: str | None = None
        key: Secret | None = None
        if settings.client_certificate:
            where = f"{path}.clientCertificate"
            pair = self.pair(settings.client_certificate, DATA_NAMESPACE, ("tls.crt", "tls.key"), where)
            if pair is None:
                return None
            certificate, key = pair.user, pair.password
        ca = self.authority(settings.ca, f"{path}.ca")
        if settings.ca and ca is None:
            return None
        return Tls(mode=settings.mode, ca=ca, certificate=certificate, key=key)

    def _values(
        self, holder: Holder, name: str, namespace: str, keys: tuple[str, ...], path: str
    ) -> tuple[str, ...] | None:
        """Return the entries of a Secret or ConfigMap, None where one is missing, which is noted."""
        place = f"{_TITLE[holder]} {namespace}/{name}"
        content = self._object(holder, name, namespace, path)
        if content is None:
            return None
        for key in keys:
            if not content.get(key):
                self.faults.append(
                    Fault(
                        path=path,
                        what=f"{place} has no {key}; it has {', '.join(sorted(content)) or 'nothing'}",
                        run=f"Add {key}, or correct the key in the settings",
                    )
                )
                return None
        return tuple(content[key] for key in keys)

    def _object(self, holder: Holder, name: str, namespace: str, path: str) -> dict[str, str] | None:
        wanted = (holder, name, namespace)
        if wanted not in self._objects and not self._silent:
            self._objects[wanted] = self._read(holder, name, namespace, path)
        return self._objects.get(wanted)

    def _read(self, holder: Holder, name: str, namespace: str, path: str) -> dict[str, str] | None:
        place = f"{_TITLE[holder]} {namespace}/{name}"
        try:
            found = self._api.get(f"/api/v1/namespaces/{namespace}/{_PLURAL[holder]}/{name}")
            return _content(holder, found)
        except KubeError as error:
            if error.status == 0:
                self._silent = True  # the cluster's own checks say so
                return None
            what = {
                NOT_FOUND: f"there is no {place}",
                _FORBIDDEN: f"you may not read {place}",
            }.get(error.status, f"{place} cannot be read ({error})")
        except (binascii.Error, UnicodeDecodeError):
            what = f"{place} holds what is no text"
        run = f"kubectl -n {namespace} create {_CREATE[holder]} {name} ..., or let External Secrets make it"
        self.faults.append(Fault(path=path, what=what, run=run))
        return None


def _content(holder: Holder, found: dict[str, Any]) -> dict[str, str]:
    data: dict[str, str] = found.get("data") or {}
    if holder == "configMap":
        return data
    return {key: base64.b64decode(value).decode().rstrip("\n") for key, value in data.items()}


class ReferencesProbe:
    """What became of the references.

    Args:
        context: context of the cluster.
        faults: those that lead nowhere.
    """

    def __init__(self, context: str, faults: list[Fault]) -> None:
        self.subject = f"cluster {context}"
        self.faults = faults
        self.secrets: frozenset[Secret] = frozenset()

    def explain(self, error: Exception) -> Verdict | None:
        """Return None: nothing is asked."""
        del error
        return None

    def close(self) -> None:
        """Do nothing: nothing is open."""


@check(
    "cluster-references",
    "cluster",
    why="A pod that mounts a Secret that is missing does not start, and what needs its password could not be checked.",
    run="Create the Secret, by hand or by External Secrets, with the keys that the settings name.",
)
def references(probe: ReferencesProbe) -> Verdicts:
    """Every Secret and ConfigMap that the settings name for external servers: there, with its keys."""
    return [fail(fault.what, run=fault.run, subject=fault.path) for fault in probe.faults] or [
        ok("every Secret that the settings name for external servers is there")
    ]


REFERENCES = (references,)
"""What is checked of the references."""
