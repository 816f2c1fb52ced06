"""Hands out pod addresses, each to one pod at a time."""

from __future__ import annotations

from collections import deque
from ipaddress import IPv4Network

from infra.errors import FlotillaError

_RESERVED = 10
"""The first addresses of the range are kept for the network's own use, as for the gateway."""


class AddressPool:
    """The addresses of a range, those that were free for longest first."""

    def __init__(self, cidr: str) -> None:
        hosts = IPv4Network(cidr).hosts()
        self._free = deque(str(address) for address in list(hosts)[_RESERVED:])
        self._taken: set[str] = set()

    def take(self, wanted: str | None = None) -> str:
        """Take an address: the wanted one if it is free.

        Raises:
            FlotillaError: none is left.
        """
        if wanted and wanted in self._free:
            self._free.remove(wanted)
            self._taken.add(wanted)
            return wanted
        if not self._free:
            raise FlotillaError("no pod address is left", remedy="Delete some of the pods that run as processes")
        address = self._free.popleft()
        self._taken.add(address)
        return address

    def give_back(self, address: str) -> None:
        """Return an address that is no longer used."""
        if address in self._taken:
            self._taken.remove(address)
            self._free.append(address)
