"""Guesses what a mistyped word was meant to be."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that resembles this one most, if any does; case does not matter."""
    spelled = {name.lower().replace("_", "").replace("-", ""): name for name in known}
    plain = word.lower().replace("_", "").replace("-", "")
    matches = get_close_matches(plain, spelled, n=1, cutoff=0.6)
    return spelled[matches[0]] if matches else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the question as a sentence with a space after it, or nothing."""
    match = closest(word, known)
    return f"Did you mean {match}? " if match else ""
