"""Tells secrets from other values, by their names and by their shapes. Messages never repeat a value."""

from __future__ import annotations

import re

SECRET_NAMES = (
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "apikey",
    "accesskey",
    "accesskeyid",
    "secretkey",
    "privatekey",
    "clientsecret",
    "cookiesecret",
    "authtoken",
    "accesstoken",
    "refreshtoken",
    "bearertoken",
)
"""How names of secrets end, letters and digits only."""

SHORT_SECRET_NAMES = ("secret", "token", "credential", "credentials")
"""Names that in a text may as well speak of a reference, so they count only where one value has one name."""

WELL_KNOWN = frozenset(
    {
        "12341234",
        "123456",
        "12345678",
        "admin",
        "administrator",
        "changeme",
        "default",
        "example",
        "guest",
        "kubeflow",
        "letmein",
        "minio",
        "minio123",
        "minioadmin",
        "mysql",
        "passw0rd",
        "password",
        "postgres",
        "qwerty",
        "root",
        "secret",
        "test",
        "token",
    }
)
"""Passwords that everybody tries first."""

SHAPES = {
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "an AWS access key": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a GitHub token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,})\b"),
    "a Slack token": re.compile(r"\bxox[abprs]-[0-9A-Za-z-]{10,}"),
    "a JSON web token": re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    "a password in a URL": re.compile(r"://[^/\s:@]+:(?![$%{<(\[])[^/\s@]+@"),
}

_LINE = re.compile(
    r"""^[\s\-]*["']?(?:[\w\-]+:)?([A-Za-z][\w.\-]*)["']?[ \t]*[:=][ \t]*(\S.*?)\s*,?\s*$""", re.MULTILINE
)
"""`name: value`, `name=value`, `"name": "value",`; a name may have a namespace, as Pulumi's have."""
_REFERENCE = re.compile(r"[$<(\[{%*].*|/.*|true|false|on|off|yes|no|null|none|\d{1,6}", re.IGNORECASE | re.DOTALL)


def names_secret(name: str, *, endings: tuple[str, ...] = SECRET_NAMES + SHORT_SECRET_NAMES) -> bool:
    """Tell whether a name promises a secret: `DB_PASSWORD` does, `PASSWORD_FILE` and `secretName` do not."""
    return re.sub(r"[^a-z0-9]", "", name.lower()).endswith(endings)


def is_literal(value: str) -> bool:
    """Tell whether a value is the thing itself: no reference, path, switch, small number or redaction."""
    bare = value.strip().strip("\"'")
    return bool(bare) and not _REFERENCE.fullmatch(bare)


def shapes(text: str) -> list[str]:
    """Return which kinds of secrets a text holds by their shape."""
    return [what for what, shape in SHAPES.items() if shape.search(text)]


def lines(text: str) -> list[str]:
    """Return the names that a configuration text gives a secret value to, one line each."""
    return [
        match[1]
        for match in _LINE.finditer(text)
        if names_secret(match[1], endings=SECRET_NAMES) and is_literal(match[2])
    ]
