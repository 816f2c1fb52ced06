"""What Go's public checksum database says a module's hash is."""

from __future__ import annotations

import httpx

from infra.core.crds.gosum import escaped
from infra.core.crds.module_proxy import proxy
from infra.errors import FlotillaError

DATABASE = "sum.golang.org"


def published_h1(module: str, version: str, *, client: httpx.Client) -> str | None:
    """Return the module's `h1:` hash in the checksum database; None when nobody within reach knows it.

    Asks the module proxy, which may pass the database on, then the database itself.

    Raises:
        FlotillaError: downloads are forbidden.

    """
    lookup = f"lookup/{escaped(module)}@{escaped(version)}"
    for address in (f"{proxy(module, version)}/sumdb/{DATABASE}/{lookup}", f"https://{DATABASE}/{lookup}"):
        try:
            response = client.get(address)
        except httpx.HTTPError:
            continue
        if response.is_success:
            return _hash_in(response.text, module, version)
    return None


def check_published(module: str, version: str, h1: str, *, client: httpx.Client) -> bool:
    """Compare a module's hash with the checksum database; tell whether the database could be asked.

    Raises:
        FlotillaError: the hashes differ.

    """
    published = published_h1(module, version, client=client)
    if published is not None and published != h1:
        raise FlotillaError(
            f"checksum mismatch: the module's hash is {h1}, {DATABASE} has {published}",
            where=f"{module}@{version}",
            remedy="Do not use this module: whoever served it changed it",
        )
    return published is not None


def _hash_in(text: str, module: str, version: str) -> str | None:
    """Return the hash on the line of go.sum's form that is about the module itself."""
    fields = (line.split() for line in text.splitlines())
    return next((field[2] for field in fields if field[:2] == [module, version] and len(field) == 3), None)
