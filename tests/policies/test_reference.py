"""The generated page says what the rules say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from policies import reference
from policies.rules import RULES, STACK_RULES

if TYPE_CHECKING:
    from pathlib import Path


def test_reference_page_is_current() -> None:
    reference.main(["--check"])


def test_reference_names_every_rule() -> None:
    page = reference.page()

    assert all(f"### {rule.name}\n" in page for rule in (*RULES, *STACK_RULES))


def test_reference_check_fails_when_the_page_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "PAGE", tmp_path / "reference" / "policies.md")

    with pytest.raises(SystemExit, match="not what the rules say"):
        reference.main(["--check"])
    reference.main([])
    reference.main(["--check"])


def test_reference_refuses_unknown_arguments() -> None:
    with pytest.raises(SystemExit, match="unknown argument --fix"):
        reference.main(["--fix"])
