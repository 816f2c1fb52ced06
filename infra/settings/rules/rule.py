"""What a rule is: a named check over several settings, and the sections it has to see."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from infra.settings.models.base import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from infra.settings.locate import KeyPath
    from infra.settings.models.settings import Settings

    Check = Callable[[Settings], Iterable["Violation"]]

S = TypeVar("S", bound=Section)


@dataclass(frozen=True)
class Violation:
    """What a rule found.

    Args:
        path: the key to blame, as keys and indexes in the values' own spelling.
        what: what is wrong, without a full stop.
        remedy: what to write instead, without a full stop.

    """

    path: KeyPath
    what: str
    remedy: str


@dataclass(frozen=True)
class Rule:
    """A check, run once the sections it needs are valid by themselves.

    Args:
        check: returns every violation; its docstring says what the rule demands and why.
        sections: attributes of the settings that it reads.

    """

    check: Check
    sections: frozenset[str]

    @property
    def name(self) -> str:
        """Name of the rule, as words."""
        return self.check.__name__.replace("_", " ")

    @property
    def reason(self) -> str:
        """What it demands and why."""
        return inspect.cleandoc(self.check.__doc__ or "").replace("\n", " ")


def rule(*sections: str) -> Callable[[Check], Rule]:
    """Make a function that yields violations a rule over these sections."""
    return lambda check: Rule(check, frozenset(sections))


def each(kind: type[S], inside: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, S]]:
    """Yield every section of a kind, however deep, with its path."""
    if isinstance(inside, kind):
        yield path, inside
    elif isinstance(inside, Section):
        for name, field in type(inside).model_fields.items():
            yield from each(kind, getattr(inside, name, None), (*path, field.alias or name))
    elif isinstance(inside, tuple | dict):
        for part, item in inside.items() if isinstance(inside, dict) else enumerate(inside):
            yield from each(kind, item, (*path, part))


def repeated(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield index and name of each that occurred before."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield index, name
        seen.add(name)
