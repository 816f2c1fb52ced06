"""Hypothesis never judges how long an example took: that is the machine's doing."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("flotilla", deadline=None)
settings.load_profile("flotilla")
