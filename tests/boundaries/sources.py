"""The project's own Python files, as syntax trees."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("infra", "ops", "policies", "sandbox", "bench", "tests")


@dataclass(frozen=True, kw_only=True)
class Source:
    """One module.

    Attributes:
        path: its file, relative to the checkout.
        module: its dotted name.
        tree: its syntax tree.
        lines: how many lines it has.
    """

    path: Path
    module: str
    tree: ast.Module
    lines: int

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.module if self.path.name == "__init__.py" else self.module.rpartition(".")[0]

    def imports(self) -> list[tuple[int, str]]:
        """Return line and dotted name of everything imported from the project, wherever it is imported."""
        return [(line, name) for line, name in self.all_imports() if name.partition(".")[0] in PACKAGES]

    def all_imports(self) -> list[tuple[int, str]]:
        """Return line and dotted name of every import."""
        found: list[tuple[int, str]] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found += [(node.lineno, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = self._absolute(node)
                found += [(node.lineno, _module_or_member(base, alias.name)) for alias in node.names]
        return found

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.package.split(".")
        kept = parts[: len(parts) - node.level + 1]
        return ".".join([*kept, node.module] if node.module else kept)


@cache
def sources() -> tuple[Source, ...]:
    """Return every module of the project."""
    found: list[Source] = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            relative = path.relative_to(ROOT)
            parts = relative.with_suffix("").parts
            found.append(
                Source(
                    path=relative,
                    module=".".join(parts[:-1] if parts[-1] == "__init__" else parts),
                    tree=ast.parse(text, filename=str(relative)),
                    lines=text.count("\n"),
                )
            )
    return tuple(found)


def _module_or_member(base: str, name: str) -> str:
    """Return what `from base import name` reads: the module of that name where there is one, else `base`."""
    folder = ROOT.joinpath(*base.split("."))
    is_module = (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists()
    return f"{base}.{name}" if is_module else base
