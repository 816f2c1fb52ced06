"""Loads an environment: reads its files, merges and validates them, and reports every problem at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from infra.errors import FlotillaError
from infra.paths import ROOT, VALUES
from infra.settings.locate import locate
from infra.settings.merge import merge
from infra.settings.messages import follows, translate
from infra.settings.models.settings import Settings, Values
from infra.settings.problems import Problem, SettingsError
from infra.settings.rules import RULES
from infra.settings.sources import Source
from infra.settings.suggest import did_you_mean
from infra.settings.tree import Map, Plain, plain

if TYPE_CHECKING:
    from pathlib import Path

BASE = "base"


@dataclass(frozen=True)
class Loaded:
    """Validated settings, and the merged values they came from."""

    settings: Settings
    values: Map


def load(env: str, values_dir: Path = VALUES) -> Settings:
    """Return the validated settings of an environment.

    Raises:
        FlotillaError: there is no such environment.
        SettingsError: its values are wrong; it lists every problem.

    """
    return load_with_origins(env, values_dir).settings


def load_with_origins(env: str, values_dir: Path = VALUES) -> Loaded:
    """Return what `load` does, together with the file and line of each value."""
    known = environments(values_dir)
    if env not in known:
        names = ", ".join(known) or "none"
        remedy = f"{did_you_mean(env, known)}Known: {names}"
        raise FlotillaError(f"there is no environment {env!r}", where=shown(values_dir), remedy=remedy)
    merged = _read(env, (BASE, env), values_dir)
    problems, sections = _validate(merged)
    problems += [
        _locate_violation(merged, violation.path, violation.what, violation.remedy)
        for rule in RULES
        if rule.sections <= sections.keys()
        for violation in rule.check(Settings.model_construct(environment=env, **sections))
    ]
    if problems:
        raise SettingsError(env, problems)
    return Loaded(Settings.model_construct(environment=env, **sections), merged)


def environments(values_dir: Path = VALUES) -> list[str]:
    """Return the names of all environments, which are those of their files."""
    return sorted(path.stem for path in values_dir.glob("*.yaml") if path.stem != BASE)


def shown(path: Path) -> str:
    """Return a path as messages name it: from the checkout's root where it lies in it."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def base_values(values_dir: Path = VALUES) -> Map:
    """Return what base.yaml says, which is every environment's default."""
    return _read(BASE, (BASE,), values_dir)


def _read(env: str, layers: tuple[str, ...], values_dir: Path) -> Map:
    """Return the files of an environment, each merged over those before it."""
    sources = [Source(path, shown(path)) for path in (values_dir / f"{name}.yaml" for name in layers)]
    trees = [source.read() for source in sources]
    if problems := [problem for source in sources for problem in source.problems]:
        raise SettingsError(env, problems)
    return reduce(merge, (tree for tree in trees if tree is not None))


def _validate(merged: Map) -> tuple[list[Problem], dict[str, Any]]:
    """Return every problem of shape, and the sections that have none."""
    values = {key: plain(tree) for key, tree in merged.entries.items()}
    try:
        valid = Values.model_validate(values)
    except ValidationError as error:
        details = error.errors(include_url=False)
        problems = [translate(merged, detail) for detail in details if not follows(detail, details)]
        wrong = {str(detail["loc"][0]) for detail in details}
        return problems, _valid_sections(values, wrong)
    return [], {name: getattr(valid, name) for name in Values.model_fields}


def _valid_sections(values: dict[str, Plain], wrong: set[str]) -> dict[str, Any]:
    return {
        name: TypeAdapter[Any](field.annotation or Any).validate_python(values[name])
        for name, field in Values.model_fields.items()
        if name not in wrong
    }


def _locate_violation(merged: Map, path: tuple[str | int, ...], what: str, remedy: str) -> Problem:
    place = locate(merged, path)
    return Problem(place.origin.file, place.origin.line, place.dotted, what, remedy)
