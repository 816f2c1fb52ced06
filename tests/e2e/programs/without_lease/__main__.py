"""The real program with one thing taken out of its declaration: the leader's right to its lease."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING

from infra.core import permissions

if TYPE_CHECKING:
    from infra.core.availability import Availability
    from infra.core.parts import Permissions


def without_lease(declared: Permissions, _availability: Availability) -> Permissions:
    """Stand in for `with_lease`: return the permissions as they are."""
    return declared


# Set before the program's other modules are loaded and take the function by name.
permissions.with_lease = without_lease
runpy.run_module("infra", run_name="__main__")
