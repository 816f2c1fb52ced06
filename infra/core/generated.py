"""Passwords that nobody chooses: made once, kept encrypted in the stack's state, and never shown."""

from __future__ import annotations

import secrets
from typing import Any

import pulumi
from pulumi import dynamic

BYTES = 32
"""Random bytes of a password: 256 bits, 43 characters of letters, digits, `-` and `_`, which every client takes."""


class PasswordProvider(dynamic.ResourceProvider):
    """Makes a password; nothing changes it but replacing the resource.

    Stacks keep a reference to this module and class, so their names are frozen.
    """

    serialize_as_secret_always: bool = False

    def create(self, props: dict[str, Any]) -> dynamic.CreateResult:
        """Return a new password."""
        return dynamic.CreateResult(props["purpose"], {**props, "password": secrets.token_urlsafe(BYTES)})

    def diff(self, _id: str, _olds: dict[str, Any], _news: dict[str, Any]) -> dynamic.DiffResult:
        """Keep the password whatever is declared."""
        return dynamic.DiffResult(changes=False)


class GeneratedPassword(dynamic.Resource, module="flotilla", name="GeneratedPassword"):
    """A random password, the same for as long as the stack knows it.

    Its type token, `pulumi-python:dynamic/flotilla:GeneratedPassword`, is frozen. To change a password, replace the
    resource: `pulumi up --target-replace URN --target-dependents`.

    Args:
        name: resource name.
        purpose: what the password is for; shown in previews.
        opts: resource options.

    Attributes:
        password: the password, a secret to the engine.
    """

    password: pulumi.Output[str]

    def __init__(self, name: str, *, purpose: str, opts: pulumi.ResourceOptions | None = None) -> None:
        sealed = pulumi.ResourceOptions(additional_secret_outputs=["password"])
        super().__init__(
            PasswordProvider(),
            name,
            {"purpose": purpose, "password": None},
            pulumi.ResourceOptions.merge(opts, sealed),
        )
