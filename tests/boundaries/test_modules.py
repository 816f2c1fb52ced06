"""Modules are small, shadow nothing, know no environment by name and keep pins in one place."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from importlib.metadata import packages_distributions

import pytest

from tests.boundaries.sources import PACKAGES, ROOT, Source, sources

LONG, TOO_LONG = 300, 400
PROGRAMS = ("infra", "policies")
"""Folders that are run as programs, so that what lies in them comes first on the module path."""

PINS = ("infra.versions", "infra.crd_sources")
IMAGE = re.compile(r"[a-z0-9][a-z0-9.-]*\.[a-z]{2,}(?::\d+)?/[a-z0-9._/-]+(?::[\w][\w.-]*|@sha256:[0-9a-f]{64})")
PREFIX_TESTS = {"startswith", "endswith", "removeprefix", "removesuffix"}


@pytest.mark.filterwarnings("default")
def test_modules_are_small() -> None:
    for source in sources():
        if LONG < source.lines <= TOO_LONG:
            warnings.warn(f"{source.path} has {source.lines} lines; split it before {TOO_LONG}", stacklevel=1)

    assert [f"{source.path}: {source.lines}" for source in sources() if source.lines > TOO_LONG] == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_shadow_no_other_module(program: str) -> None:
    children = {source.path.parts[1].removesuffix(".py") for source in sources() if source.path.parts[0] == program} - {
        "__init__",
        "__main__",
    }

    taken = set(sys.stdlib_module_names) | set(packages_distributions())

    assert children & taken == set()


def test_no_code_branches_on_the_name_of_an_environment() -> None:
    faults = [
        f"{source.path}:{line} asks for the environment {name!r}; make it a setting"
        for source in sources()
        if source.path.parts[0] in {"infra", "policies"}
        for line, name in _environment_branches(source.tree)
    ]

    assert faults == []


@pytest.mark.parametrize(
    "code",
    [
        "if env == 'local': pass",
        "x = env in ('dev', 'staging')",
        "match env:\n    case 'prod-aws': pass",
        "replicas = {'dev': 1, 'staging': 2}[env]",
        "env.startswith('prod')",
    ],
)
def test_environment_branches_are_found(code: str) -> None:
    assert _environment_branches(ast.parse(code))


def test_environment_names_as_values_are_no_branch() -> None:
    assert _environment_branches(ast.parse("up('local'); kind = 'none'; x == 'locally'")) == []


def test_images_are_named_only_where_versions_are_pinned() -> None:
    faults = [
        f"{source.path}:{line} names {text}; pin it in infra/versions.py"
        for source in sources()
        if source.path.parts[0] == "infra" and source.module not in PINS
        for line, text in _strings(source)
        if IMAGE.fullmatch(text)
    ]

    assert faults == []


def test_every_package_has_a_docstring_that_says_what_it_is_for() -> None:
    missing = [
        str(source.path)
        for source in sources()
        if source.path.parts[0] in PACKAGES and source.path.parts[0] != "tests" and not ast.get_docstring(source.tree)
    ]

    assert missing == []


def _environments() -> set[str]:
    return {path.stem for path in (ROOT / "values").glob("*.yaml")} - {"base"} | {
        "local",
        "dev",
        "staging",
        "prod",
        "prod-aws",
        "prod-onprem",
    }


def _environment_branches(tree: ast.Module) -> list[tuple[int, str]]:
    """Return where a program decides by an environment's name: comparisons, matches, tables, prefixes."""
    decided: list[ast.expr] = []
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=comparators):
                for side in (left, *comparators):
                    decided += side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]
            case ast.MatchValue(value=value):
                decided.append(value)
            case ast.Dict(keys=keys):
                decided += [key for key in keys if key is not None]
            case ast.Call(func=ast.Attribute(attr=attribute), args=arguments) if attribute in PREFIX_TESTS:
                decided += arguments
            case _:
                pass
    names = _environments()
    return [
        (expression.lineno, expression.value)
        for expression in decided
        if isinstance(expression, ast.Constant) and isinstance(expression.value, str) and expression.value in names
    ]


def _strings(source: Source) -> list[tuple[int, str]]:
    return [
        (node.lineno, node.value)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
