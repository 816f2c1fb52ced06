"""Bad values, and the exact messages that their writers get."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.errors import FlotillaError
from infra.settings import load
from tests.unit.settings.folder import FIXTURES, make, message

if TYPE_CHECKING:
    from pathlib import Path

CASES = sorted(path.stem for path in (FIXTURES / "bad").glob("*.yaml"))


@pytest.mark.parametrize("case", CASES)
def test_message_is_the_expected_one(case: str, tmp_path: Path) -> None:
    overlay = (FIXTURES / "bad" / f"{case}.yaml").read_text(encoding="utf-8")
    expected = (FIXTURES / "bad" / f"{case}.txt").read_text(encoding="utf-8")
    assert f"{message(tmp_path, overlay)}\n" == expected


@pytest.mark.parametrize("overlay", ["", "# only a comment\n", "---\n"])
def test_file_that_says_nothing_is_refused(overlay: str, tmp_path: Path) -> None:
    assert message(tmp_path, overlay) == ("values/dev.yaml: is empty. Write at least one section, such as `cluster:`.")


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    assert message(tmp_path, "mesh:\n  domain: köln.example.com\n".encode("latin-1")) == (
        "values/dev.yaml:2: is not UTF-8 text. Save the file as UTF-8."
    )


def test_control_characters_are_refused(tmp_path: Path) -> None:
    assert message(tmp_path, b"mesh:\n  domain: a\x07b\n") == (
        "values/dev.yaml: contains the character U+0007. Remove it: YAML takes only printable text."
    )


def test_misspelled_key_is_not_also_missing(tmp_path: Path) -> None:
    pool = "name: a, purpose: system, instanceType: m, machine: { cpu: 4, memory: 16Gi }, nodes: { mim: 3, max: 3 }"
    assert message(tmp_path, f"cluster: {{ nodePools: [{{ {pool} }}] }}") == (
        "values/dev.yaml:1: cluster.nodePools[0].nodes.mim: unknown key. Did you mean min?"
    )


def test_endless_nesting_is_refused(tmp_path: Path) -> None:
    assert "is nested too deeply" in message(tmp_path, "mesh: " + "[" * 2000)


def test_multiplying_aliases_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    text = message(tmp_path, "\n".join(lines))
    assert "more than 100000 values" in text
    assert len(text.splitlines()) == 1


def test_unknown_environment_lists_the_known_ones(tmp_path: Path) -> None:
    values = make(tmp_path, "mesh: {}")
    (values / "prod.yaml").write_text("mesh: {}", encoding="utf-8")
    with pytest.raises(FlotillaError) as caught:
        load("dve", values)
    assert str(caught.value).endswith("there is no environment 'dve'. Did you mean dev? Known: dev, prod")


def test_base_is_not_an_environment(tmp_path: Path) -> None:
    with pytest.raises(FlotillaError, match="there is no environment 'base'"):
        load("base", make(tmp_path, "mesh: {}"))


@pytest.mark.parametrize("name", ["../values/dev", "", "dev.yaml"])
def test_environment_is_a_name_and_not_a_path(name: str, tmp_path: Path) -> None:
    with pytest.raises(FlotillaError, match="there is no environment"):
        load(name, make(tmp_path, "mesh: {}"))


def test_missing_base_is_named(tmp_path: Path) -> None:
    values = make(tmp_path, "mesh: {}")
    (values / "base.yaml").unlink()
    with pytest.raises(FlotillaError, match=r"values/base\.yaml: does not exist"):
        load("dev", values)


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FlotillaError, match=r"nowhere: there is no environment 'dev'. Known: none"):
        load("dev", tmp_path / "nowhere")


def test_both_files_are_read_before_failing(tmp_path: Path) -> None:
    values = make(tmp_path, "a: 1\na: 2\n")
    (values / "base.yaml").write_text("", encoding="utf-8")
    with pytest.raises(FlotillaError) as caught:
        load("dev", values)
    assert "2 problems" in str(caught.value)


def test_secrets_are_never_repeated(tmp_path: Path) -> None:
    overlay = (FIXTURES / "bad" / "secret.yaml").read_text(encoding="utf-8")
    assert "hunter2" not in message(tmp_path, overlay)


def test_missing_key_belongs_in_the_environments_file(tmp_path: Path) -> None:
    values = make(tmp_path, "mesh: {}")
    base = (values / "base.yaml").read_text(encoding="utf-8").replace("  region: eu-west-1\n", "")
    (values / "base.yaml").write_text(base, encoding="utf-8")
    with pytest.raises(FlotillaError, match=r"values/dev\.yaml:1: cluster\.region: is missing\. Add it: Region"):
        load("dev", values)
