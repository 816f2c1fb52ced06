"""What counts as a secret in plain text, in values, names and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies import committed
from policies.plaintext import is_literal, lines, names_secret, shapes


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "DB_PASSWORD",
        "dbPassword",
        "--api-key",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "client.secret",
    ],
)
def test_names_secret_knows_secrets(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize(
    "name", ["PASSWORD_FILE", "secretName", "tokenAudience", "publicKey", "key", "passwordPolicy", "KEYBOARD"]
)
def test_names_secret_knows_references(name: str) -> None:
    assert not names_secret(name)


@pytest.mark.parametrize("value", ["hunter22", "c2VjdXJl", "'quoted'", "12345678"])
def test_is_literal_takes_values(value: str) -> None:
    assert is_literal(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "  ",
        "$(DB_PASSWORD)",
        "${PASSWORD}",
        "{{ password }}",
        "/run/secrets/db",
        "true",
        "OFF",
        "30",
        "[secret]",
        "***",
    ],
)
def test_is_literal_leaves_references_switches_and_redactions(value: str) -> None:
    assert not is_literal(value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("-----BEGIN PRIVATE KEY-----\nabc", "a private key"),
        ("key AKIAABCDEFGHIJKLMNOP end", "an AWS access key"),
        ("ghp_" + "a" * 36, "a GitHub token"),
        ("xoxb-1234567890-abc", "a Slack token"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "a JSON web token"),
        ("postgres://user:p4ss@db:5432/x", "a password in a URL"),
    ],
)
def test_shapes_names_what_it_finds(text: str, what: str) -> None:
    assert shapes(text) == [what]


@pytest.mark.parametrize(
    "text",
    ["-----BEGIN CERTIFICATE-----", "https://example.com:8443/a@b", "mysql://$(USER):$(PASSWORD)@db", "AKIA"],
)
def test_shapes_leaves_other_texts(text: str) -> None:
    assert shapes(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("password: hunter22", ["password"]),
        ("db.password=hunter22\nmode=fast", ["db.password"]),
        ('{\n  "apiKey": "abcdef",\n  "port": 1\n}', ["apiKey"]),
        ("config:\n  flotilla:dbPassword: hunter22\n", ["dbPassword"]),
        ("config:\n  flotilla:dbPassword:\n    secure: AAABAQ==\n", []),
        ("password:\n  secretKeyRef: db\n", []),
        ("# password: ask the platform team\nsecret: web-cert\n", []),
    ],
)
def test_lines_names_settings_that_hold_secrets(text: str, names: list[str]) -> None:
    assert lines(text) == names


def _file(folder: Path, name: str, content: bytes) -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


def test_committed_refuses_files_with_secrets_and_repeats_none(tmp_path: Path) -> None:
    files = [
        _file(tmp_path, "values.yaml", b"database:\n  password: hunter22\n"),
        _file(tmp_path, "key.pem", b"-----BEGIN PRIVATE KEY-----\nhunter22\n"),
    ]

    with pytest.raises(SystemExit) as stop:
        committed.main(files)

    message = str(stop.value)
    assert "values.yaml: gives password a value in plain text" in message
    assert "key.pem: holds a private key" in message
    assert "hunter22" not in message


def test_committed_accepts_other_files(tmp_path: Path) -> None:
    committed.main(
        [
            _file(tmp_path, "values.yaml", b"database:\n  passwordFile: /run/secrets/db\n"),
            _file(tmp_path, "notes.md", b"password: ask the platform team\n"),
            _file(tmp_path, "logo.png", b"\x89PNG\xff\xfe"),
        ]
    )
