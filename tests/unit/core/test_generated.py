"""Generated passwords are strong, made once, and secret."""

from __future__ import annotations

import pulumi

from infra.core.generated import GeneratedPassword, PasswordProvider
from tests.unit.core.recording import record


def test_every_password_is_new_and_long_enough() -> None:
    made = {str((PasswordProvider().create({"purpose": "test"}).outs or {})["password"]) for _ in range(100)}

    assert len(made) == 100
    assert all(len(password) >= 43 for password in made)
    assert all(set(password) <= set("-_") | {c for c in password if c.isalnum()} for password in made)


def test_password_stays_whatever_is_declared() -> None:
    result = PasswordProvider().diff("id", {"purpose": "one", "password": "kept"}, {"purpose": "two"})

    assert result.changes is False


def test_engine_is_told_that_it_is_a_secret() -> None:
    passwords: list[pulumi.Output[str]] = []
    recording = record(lambda: passwords.append(GeneratedPassword("db", purpose="test").password))

    (resource,) = recording.resources
    assert resource.type == "pulumi-python:dynamic/flotilla:GeneratedPassword"
    assert resource.inputs["purpose"] == "test"
