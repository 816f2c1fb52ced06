"""People who may sign in to a sandbox by token, as they do in a real cluster through an identity provider."""

from __future__ import annotations

import csv
import io
import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.files import write_private

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from infra.settings import Settings


@dataclass(frozen=True, kw_only=True)
class User:
    """Somebody the API server knows by name and groups. What they may do is up to RBAC."""

    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class UserStore:
    """The users of one sandbox and their tokens.

    Args:
        file: where users and tokens are kept.
        token_file: the same in the form the API server reads.

    """

    file: Path
    token_file: Path

    def tokens(self) -> dict[User, str]:
        """Return the token of each user."""
        try:
            entries: list[dict[str, object]] = json.loads(self.file.read_text())
        except FileNotFoundError:
            return {}
        return {User(name=str(entry["name"]), groups=_texts(entry["groups"])): str(entry["token"]) for entry in entries}

    def ensure(self, users: Iterable[User]) -> bool:
        """Give a token to each user who has none; return whether anything changed.

        A user whose groups changed keeps the token.
        """
        by_name = {user.name: (user, token) for user, token in self.tokens().items()}
        for user in users:
            _, token = by_name.get(user.name, (user, secrets.token_urlsafe(32)))
            by_name[user.name] = (user, token)
        entries = [{"name": user.name, "groups": list(user.groups), "token": token} for user, token in by_name.values()]
        changed = write_private(self.file, json.dumps(entries, indent=2) + "\n")
        table = io.StringIO()
        rows = csv.writer(table, lineterminator="\n")
        for user, token in by_name.values():
            rows.writerow([token, user.name, user.name, ",".join(user.groups)])
        return write_private(self.token_file, table.getvalue()) or changed


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def from_settings(settings: Settings) -> list[User]:
    """Return everybody the environment's teams name, each once."""
    people = [person for team in settings.teams for person in (team.owner, *(each.name for each in team.members))]
    return [User(name=name) for name in dict.fromkeys(people)]
