"""How long a client may wait, so that the check it serves can still say in time that nothing came."""

from __future__ import annotations

_SHARE = 0.8


def patience(timeout: float) -> float:
    """Return the seconds that one answer may take, less what is needed to say so."""
    return timeout * _SHARE
