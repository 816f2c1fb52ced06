"""Where things lie: the checkout's own folders and the per-user cache."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VALUES = ROOT / "values"
STACKS = ROOT / "stacks"
POLICIES = ROOT / "policies"
STATE = ROOT / ".flotilla"
"""State of this checkout's environments: clusters, Pulumi backend, keys. Never committed."""


def cache_dir() -> Path:
    """Return the per-user cache, shared by all checkouts: `FLOTILLA_CACHE`, else XDG's cache folder."""
    if configured := os.environ.get("FLOTILLA_CACHE"):
        return Path(configured).expanduser().resolve()
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return base / "flotilla"
