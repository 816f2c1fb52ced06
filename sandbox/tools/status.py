"""What the toolchain looks like right now, as rows for people and scripts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sandbox.tools import build, plan, store

if TYPE_CHECKING:
    from sandbox.tools.catalog import Module
    from sandbox.tools.plan import Choice


@dataclass(frozen=True)
class Row:
    """One tool: where it comes from, and whether it can be used.

    Args:
        tool: its name.
        version: its version, where known.
        source: `found` on this machine, `forced` by a variable, or `built`.
        state: `ok`, `not built`, or what is damaged.
        path: where it is, or will be.
        go: the Go it was built with.
    """

    tool: str
    version: str | None
    source: str
    state: str
    path: str
    go: str | None

    def as_json(self) -> dict[str, str | None]:
        """Return the row for `--json`."""
        return asdict(self)


@dataclass(frozen=True)
class Status:
    """Every tool, and why programs of this machine were passed over."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every tool can be used."""
        return all(row.state == "ok" for row in self.rows)


def read(*, thorough: bool = False) -> Status:
    """Look at every tool; `thorough` also compares what was built with its recorded digests.

    Raises:
        FlotillaError: a tool is forced by its variable and cannot be used.
    """
    made = plan.make()
    states = {module.name: _state(module, thorough=thorough) for module in made.modules}
    rows = tuple(_row(choice, states.get(choice.module.name, "ok")) for choice in made.choices)
    return Status(rows, made.notes)


def _state(module: Module, *, thorough: bool) -> str:
    if not build.folder_of(module).exists():
        return "not built"
    return build.damage(module, thorough=thorough) or "ok"


def _row(choice: Choice, module_state: str) -> Row:
    built = choice.found is None
    go = store.facts_of(build.folder_of(choice.module)).get("go") if built else None
    return Row(
        tool=choice.tool.name,
        version=choice.version,
        source=choice.source,
        state=module_state if built else "ok",
        path=str(choice.path),
        go=go,
    )
