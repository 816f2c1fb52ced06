"""Values that are used but never shown."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = "(secret)"
"""What is shown in place of a secret."""

_SHORTEST = 8
"""Characters. Shorter texts occur everywhere: hiding them would blank out half a message, and so betray them."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A text that no message, log line or representation shows.

    Args:
        value: the text itself.
    """

    value: str

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__


def secrets_in(value: object) -> Iterator[Secret]:
    """Yield every secret that a target holds, at any depth of dataclasses and tuples."""
    if isinstance(value, Secret):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from secrets_in(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from secrets_in(getattr(value, field.name))


def redact(text: str, secrets: frozenset[Secret]) -> str:
    """Return a text without any of the secrets, in case a server repeats what it was sent."""
    for secret in sorted(secrets, key=lambda item: -len(item.value)):
        if len(secret.value) >= _SHORTEST:
            text = text.replace(secret.value, HIDDEN)
    return text
