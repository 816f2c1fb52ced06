from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox.users import User, UserStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> UserStore:
    return UserStore(tmp_path / "users.json", tmp_path / "tokens.csv")


def test_tokens_are_kept_and_different(store: UserStore) -> None:
    assert store.ensure([User(name="a"), User(name="b")])
    first = store.tokens()
    assert len(set(first.values())) == 2
    assert not store.ensure([User(name="a")])
    assert store.tokens() == first


def test_user_with_new_groups_keeps_the_token(store: UserStore) -> None:
    store.ensure([User(name="a")])
    token = store.tokens()[User(name="a")]
    assert store.ensure([User(name="a", groups=("g",))])
    assert store.tokens() == {User(name="a", groups=("g",)): token}


def test_token_file_quotes_several_groups(store: UserStore) -> None:
    store.ensure([User(name="a@b.c", groups=("g", "h"))])
    assert store.token_file.read_text().endswith(',a@b.c,a@b.c,"g,h"\n')


def test_nobody_is_an_empty_token_file(store: UserStore) -> None:
    store.ensure([])
    assert store.token_file.read_text() == ""
