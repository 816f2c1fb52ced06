"""The reference page of the commands says what the commands say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.cli import app
from typer.testing import CliRunner

from infra.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "reference" / "commands.md"


def test_commands_reference_is_current(tmp_path: Path) -> None:
    fresh = tmp_path / "commands.md"
    arguments = ["ops.cli", "utils", "docs", "--name", "flotilla", "--title", "Commands", "--output", str(fresh)]

    written = CliRunner().invoke(app, arguments)

    assert written.exit_code == 0, written.output
    assert PAGE.read_text() == fresh.read_text(), "docs/reference/commands.md is stale. Run: make docs"
