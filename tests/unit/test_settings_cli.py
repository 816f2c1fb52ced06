"""The `flotilla settings` commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.testing import CliRunner

from infra.errors import FlotillaError
from ops.settings import app
from tests.unit.settings.folder import make

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_check_all_passes_on_this_repository() -> None:
    result = run("check", "--all")
    assert result.exit_code == 0
    assert result.stdout == ("5 environments checked, no problems: dev, local, prod-aws, prod-onprem, staging\n")


def test_check_prints_every_problem_and_fails(tmp_path: Path) -> None:
    values = make(tmp_path, "training: { operator: { replicas: 1, thread: 2 } }")
    result = run("check", "dev", "--values", str(values))
    assert result.exit_code == 1
    assert result.stderr.replace(f"{tmp_path}/", "").splitlines() == [
        "error: 2 problems in the settings of dev",
        "  values/dev.yaml:1: training.operator.replicas: 1 is not highly available: at least 2. Write 2 or more.",
        "  values/dev.yaml:1: training.operator.thread: unknown key. Did you mean threads?",
        "1 environment checked, 1 with problems",
    ]


def test_check_goes_on_after_a_bad_environment(tmp_path: Path) -> None:
    values = make(tmp_path, "nonsense: 1")
    (values / "prod.yaml").write_text("mesh: {}", encoding="utf-8")
    result = run("check", "--all", "--values", str(values))
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "2 environments checked, 1 with problems"


def test_check_wants_names_or_all() -> None:
    for arguments in (("check",), ("check", "dev", "--all")):
        result = run(*arguments)
        assert result.exit_code == 1
        assert isinstance(result.exception, FlotillaError)


def test_check_of_unknown_environment_fails() -> None:
    result = run("check", "production")
    assert result.exit_code == 1
    assert "there is no environment 'production'" in str(result.exception)


def test_show_prints_yaml() -> None:
    result = run("show", "local")
    assert result.exit_code == 0
    assert result.stdout.startswith("cluster:\n  region: local\n")
    assert "#" not in result.stdout


def test_show_origin_names_the_lines() -> None:
    assert "# values/local.yaml:" in run("show", "local", "--origin").stdout


def test_schema_and_reference_are_up_to_date() -> None:
    assert run("schema", "--check").stdout == "values/schema.json is up to date\n"
    assert run("reference", "--check").stdout == "docs/reference/settings.md is up to date\n"


def test_check_of_a_stale_schema_fails(tmp_path: Path) -> None:
    stale = tmp_path / "schema.json"
    stale.write_text("{}", encoding="utf-8")
    result = run("schema", "--check", "-o", str(stale))
    assert result.exit_code == 1
    assert str(result.exception) == (f"{stale}: is out of date. Run flotilla settings schema and commit the result")
    assert stale.read_text(encoding="utf-8") == "{}"


def test_schema_is_written_where_asked(tmp_path: Path) -> None:
    target = tmp_path / "new" / "schema.json"
    assert run("schema", "-o", str(target)).exit_code == 0
    assert run("schema", "--check", "-o", str(target)).exit_code == 0


def test_schema_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    result = run("schema", "-o", str(tmp_path))
    assert isinstance(result.exception, FlotillaError)
