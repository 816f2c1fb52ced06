"""What a check is: a small function that looks at one thing of one target and tells what it saw."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from ops.doctor.secret import Secret

Status: TypeAlias = Literal["ok", "warn", "fail", "skipped"]
"""`fail` breaks Flotilla, `warn` is a risk that somebody may accept, `skipped` was not looked at."""

Group: TypeAlias = Literal["network", "mysql", "postgresql", "kafka", "rabbitmq", "object-store", "cluster"]
"""What `--only` chooses by."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one look found.

    Args:
        status: how bad it is.
        what: what was seen, in one line without a full stop.
        run: what to run or change; None where there is nothing to do.
        why: why it matters, where the check's own reason does not fit.
        subject: what it concerns, where that is not the target as a whole.
    """

    status: Status
    what: str
    run: str | None = None
    why: str | None = None
    subject: str | None = None


Verdicts: TypeAlias = Iterable[Verdict]


def ok(what: str, *, subject: str | None = None) -> Verdict:
    """Return that all is well."""
    return Verdict(status="ok", what=what, subject=subject)


def warn(what: str, *, run: str, why: str | None = None, subject: str | None = None) -> Verdict:
    """Return a risk."""
    return Verdict(status="warn", what=what, run=run, why=why, subject=subject)


def fail(what: str, *, run: str, why: str | None = None, subject: str | None = None) -> Verdict:
    """Return a fault."""
    return Verdict(status="fail", what=what, run=run, why=why, subject=subject)


def skip(what: str, *, subject: str | None = None) -> Verdict:
    """Return why something was not looked at."""
    return Verdict(status="skipped", what=what, subject=subject)


class Probe(Protocol):
    """What a target's checks share: the target itself, and connections once they are open."""

    @property
    def subject(self) -> str:
        """Return what the target is called in findings."""
        ...

    @property
    def secrets(self) -> frozenset[Secret]:
        """Return all that must not be shown."""
        ...

    def explain(self, error: Exception) -> Verdict | None:
        """Return what an error of the target's client means, None for one that it does not raise."""
        ...

    def close(self) -> None:
        """Close what is open; called once, also after failures."""
        ...


P = TypeVar("P")
P_contra = TypeVar("P_contra", contravariant=True)


class Look(Protocol[P_contra]):
    """The function of a check."""

    def __call__(self, probe: P_contra, /) -> Verdicts:
        """Look, and yield what was seen."""
        ...


@dataclass(frozen=True, kw_only=True)
class Check(Generic[P]):
    """A check as the reference lists it.

    Args:
        name: what it is called, unique among all checks.
        group: what it belongs to.
        looks_at: what it looks at, as a sentence.
        why: what goes wrong where it fails, as a sentence.
        run: what to run in general, as a sentence; a finding's own advice names hosts and users.
        look: the function that looks.
        needs: checks of the same target without which this one makes no sense.
        waits: how many answers of the server it waits for one after another; each may take the whole timeout.
    """

    name: str
    group: Group
    looks_at: str
    why: str
    run: str
    look: Look[P]
    needs: tuple[str, ...] = ()
    waits: int = 1


def check(
    name: str,
    group: Group,
    *,
    why: str,
    run: str,
    needs: tuple[str, ...] = (),
    waits: int = 1,
) -> Callable[[Look[P]], Check[P]]:
    """Return what makes a check of a function; its docstring says what it looks at."""

    def decorate(look: Look[P]) -> Check[P]:
        return Check(
            name=name,
            group=group,
            looks_at=" ".join((inspect.getdoc(look) or "").split()),
            why=why,
            run=run,
            look=look,
            needs=needs,
            waits=waits,
        )

    return decorate
