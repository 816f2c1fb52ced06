"""Reading a live CRD: what of it counts as ours, and what others or the API server may add."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra.core.crds.pins import Manifest, fingerprint
from infra.core.crds.properties import BUNDLE_LABEL

_DEFAULTED = {"conversion", "listKind", "singular", "preserveUnknownFields"}
"""Fields of a CRD's specification that the API server fills in."""


def live_fingerprint(live: Manifest) -> str:
    """Return the fingerprint of a live CRD's specification and of the label that makes it ours.

    A webhook's certificate authority is left out: its owner, for example cert-manager, keeps that up to date.
    """
    return fingerprint({"spec": _without_authority(live["spec"]), "bundle": bundle_of(live)})


def bundle_of(live: Manifest) -> str | None:
    """Return the bundle that a live CRD's label names."""
    return (live["metadata"].get("labels") or {}).get(BUNDLE_LABEL)


def purged(live: Manifest, manifest: Manifest) -> Manifest | None:
    """Return the live CRD without what others added to its specification, None when there is no such thing.

    A server-side apply takes back what others changed but leaves what they added, for example a short name.
    """
    wanted, current = manifest["spec"], _without_authority(live["spec"])
    if not _added(current, wanted):
        return None
    authority = _authority(live["spec"])
    spec = dict(wanted)
    if authority and (webhook := _client_config(wanted)) is not None:
        spec = _with_authority(wanted, {**webhook, "caBundle": authority})
    return {**live, "spec": spec}


def is_established(live: Manifest) -> bool:
    """Tell whether the API server serves the CRD's kind."""
    return _condition(live, "Established") == "True"


def naming_conflict(live: Manifest) -> str | None:
    """Return why the API server does not accept the CRD's names, None when it does or has not decided."""
    for condition in live.get("status", {}).get("conditions") or []:
        if condition["type"] == "NamesAccepted" and condition["status"] == "False":
            return str(condition.get("message") or condition.get("reason"))
    return None


def storage_version(crd: Manifest) -> Mapping[str, Any]:
    """Return the version that objects are stored in."""
    return next(version for version in crd["spec"]["versions"] if version["storage"])


def served_path(crd: Manifest) -> str | None:
    """Return the API path of all the CRD's objects, None when no version is served."""
    spec = crd["spec"]
    version = next((version["name"] for version in spec["versions"] if version["served"]), None)
    return f"/apis/{spec['group']}/{version}/{spec['names']['plural']}" if version else None


def _condition(live: Manifest, kind: str) -> str | None:
    conditions = live.get("status", {}).get("conditions") or []
    return next((condition["status"] for condition in conditions if condition["type"] == kind), None)


def _added(current: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Tell whether `current` has a field that neither `wanted` nor a default explains; lists are atomic."""
    for key, value in current.items():
        if key not in wanted:
            if key not in _DEFAULTED or (key == "conversion" and value.get("strategy") != "None"):
                return True
        elif isinstance(value, dict) and isinstance(wanted[key], dict) and _added(value, wanted[key]):
            return True
    return False


def _client_config(spec: Mapping[str, Any]) -> dict[str, Any] | None:
    return ((spec.get("conversion") or {}).get("webhook") or {}).get("clientConfig")


def _authority(spec: Mapping[str, Any]) -> str | None:
    return (_client_config(spec) or {}).get("caBundle")


def _without_authority(spec: Mapping[str, Any]) -> dict[str, Any]:
    config = _client_config(spec)
    if config is None or "caBundle" not in config:
        return dict(spec)
    return _with_authority(spec, {key: value for key, value in config.items() if key != "caBundle"})


def _with_authority(spec: Mapping[str, Any], client_config: Mapping[str, Any]) -> dict[str, Any]:
    conversion = spec["conversion"]
    webhook = {**conversion["webhook"], "clientConfig": dict(client_config)}
    return {**spec, "conversion": {**conversion, "webhook": webhook}}
