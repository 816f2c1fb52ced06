"""The real program with one thing taken out of its declaration: the leader's right to its lease."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.core import permissions

if TYPE_CHECKING:
    from infra.core.availability import Availability
    from infra.core.parts import Permissions


def without_lease(declared: Permissions, _availability: Availability) -> Permissions:
    """Stand in for `with_lease`: return the permissions as they are."""
    return declared


# Before the program's other modules take the function by name.
permissions.with_lease = without_lease

import infra.__main__  # noqa: E402, F401
