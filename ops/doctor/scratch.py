"""Names of what the doctor makes to try something, and removes again."""

from __future__ import annotations

import secrets

PREFIX = "flotilla_doctor_"
"""What every scratch object's name begins with, so that people recognise one that was left behind."""


def scratch_name(separator: str = "_") -> str:
    """Return a name that nothing has yet.

    Args:
        separator: what joins its words, where underscores are not allowed.
    """
    return PREFIX.replace("_", separator) + secrets.token_hex(4)


def scratch_password() -> str:
    """Return a password that any rule for passwords accepts."""
    return f"{secrets.token_urlsafe(24)}-aA1!"
