"""Which cluster a stack names: said, or refused with the file and the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra import paths
from infra.errors import FlotillaError
from ops.stack_config import named_context

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def stack_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "STACKS", tmp_path)
    return tmp_path / "Pulumi.moon.yaml"


def test_context_is_the_one_that_the_stack_names(stack_file: Path) -> None:
    stack_file.write_text("config:\n  flotilla:context: base-alpha\n")
    assert named_context("moon") == "base-alpha"


def test_stack_that_does_not_exist_is_refused(stack_file: Path) -> None:
    with pytest.raises(FlotillaError, match=r"moon\.yaml: there is no such stack\. Say which cluster: --context"):
        named_context("moon")
    assert not stack_file.exists()


@pytest.mark.parametrize(
    "content",
    ["", "[]", "config:\n", "config: {}", "config: {other: x}", "config: {'flotilla:context': ''}", "config: ["],
)
def test_stack_that_names_no_cluster_is_refused(stack_file: Path, content: str) -> None:
    stack_file.write_text(content)
    with pytest.raises(FlotillaError, match=r"Pulumi\.moon\.yaml: the stack names no cluster\. Say which: --context"):
        named_context("moon")
