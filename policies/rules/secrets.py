"""Secrets live in Secrets: not in environment, arguments or ConfigMaps, and not with well-known values."""

from __future__ import annotations

import base64
import binascii
from itertools import pairwise

from policies.exemptions import NOT_SECRET
from policies.manifest import SECRET_OUTPUTS, UNKNOWN, Manifest, dig, group_kind, items, mapping
from policies.plaintext import WELL_KNOWN, is_literal, lines, names_secret, shapes
from policies.pods import POD_KINDS, Container, containers
from policies.rule import Rule


def check(manifest: Manifest) -> list[str]:
    """Refuse secrets in plain view, and Secrets that protect nothing."""
    match group_kind(manifest):
        case "Secret":
            return _secret(manifest)
        case "ConfigMap":
            return _config_map(manifest)
        case _:
            return [fault for container in containers(manifest) for fault in _container(container)]


def _secret(manifest: Manifest) -> list[str]:
    faults: list[str] = []
    encrypted = manifest.get(SECRET_OUTPUTS)
    for field in ("data", "stringData"):
        values = mapping(manifest.get(field))
        if values and encrypted is not None and field not in items(encrypted):
            faults.append(f"{field} is not marked as secret, so the stack's state keeps it in plain text")
        faults += [
            f"{field}.{key} is a well-known default"
            for key, value in values.items()
            if names_secret(key) and _plain(value, encoded=field == "data").lower() in WELL_KNOWN
        ]
    return faults


def _plain(value: object, *, encoded: bool) -> str:
    if not isinstance(value, str):
        return ""
    if not encoded:
        return value
    try:
        return base64.b64decode(value, validate=True).decode(errors="replace")
    except binascii.Error:
        return ""


def _config_map(manifest: Manifest) -> list[str]:
    faults: list[str] = []
    for key, value in mapping(manifest.get("data")).items():
        if not isinstance(value, str):
            continue
        if names_secret(key) and is_literal(value):
            faults.append(f"data.{key} holds a secret")
        faults += [f"data.{key} gives {name} a value" for name in lines(value)]
        faults += [f"data.{key} holds {what}" for what in shapes(value)]
    return faults


def _container(container: Container) -> list[str]:
    faults: list[str] = []
    for variable in items(dig(container.spec, "env")):
        name, value = dig(variable, "name"), dig(variable, "value")
        if not isinstance(name, str) or not isinstance(value, str):
            continue
        if names_secret(name) and is_literal(value):
            faults.append(f"{container.label} has a secret in plain text in env {name}")
        faults += [f"{container.label} has {what} in env {name}" for what in shapes(value)]
    words = [
        str(word) for field in ("command", "args") for word in items(dig(container.spec, field)) if word is not UNKNOWN
    ]
    faults += [f"{container.label} has a secret in plain text in argument {flag}" for flag in _flags(words)]
    faults += [f"{container.label} has {what} in its arguments" for what in shapes("\n".join(words))]
    return faults


def _flags(words: list[str]) -> list[str]:
    """Return the flags that are given a secret, as `--flag=value` or as two words."""
    joined = [(flag, value) for word in words for flag, equals, value in [word.partition("=")] if equals]
    apart = [(flag, value) for flag, value in pairwise(words) if "=" not in flag and not value.startswith("-")]
    return [flag for flag, value in joined + apart if flag.startswith("-") and names_secret(flag) and is_literal(value)]


PLAIN_SECRETS = Rule(
    name="plain-secrets",
    title="Secrets stand in Secrets, encrypted in the stack's state, and never have defaults.",
    why=(
        "Whoever may read a Deployment or a ConfigMap reads what is in it; so do logs, diffs and backups. "
        "A default password is no password."
    ),
    remedy=(
        "Keep the value in a Secret made from the stack's encrypted configuration, and refer to it "
        f"(secretKeyRef, a volume); where a name only sounds secret, say so in {NOT_SECRET.annotation}"
    ),
    kinds=POD_KINDS | {"Secret", "ConfigMap"},
    exemptions=(NOT_SECRET,),
    check=check,
)
