"""Servers outside a sandbox that its process pods reach by name: real ones on this machine's loopback address.

Each host name gets an address of its own inside the sandbox; the agent leads what pods connect to there to local ports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from pathlib import Path

from infra.errors import FlotillaError
from sandbox.files import write_private
from sandbox.network import OUTSIDE_CIDR

_PLACE = re.compile(r"(?P<host>[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?):(?P<port>\d{1,5})")


@dataclass(frozen=True)
class OutsideHosts:
    """What leads where.

    Args:
        addresses: the address of each host name.
        targets: the local port behind each address and port.
    """

    addresses: Mapping[str, str] = field(default_factory=dict[str, str])
    targets: Mapping[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])

    @property
    def ports(self) -> frozenset[int]:
        """Every port pods may connect to."""
        return frozenset(port for _, port in self.targets)

    @property
    def places(self) -> dict[str, int]:
        """The local port behind each `host:port`."""
        names = {address: host for host, address in self.addresses.items()}
        return {f"{names[address]}:{port}": local for (address, port), local in self.targets.items()}

    def mapped(self, places: Mapping[str, int]) -> OutsideHosts:
        """Return what leads where when exactly `places` are reached, `host:port` names to local ports.

        A host that stays keeps its address.

        Raises:
            FlotillaError: a name is none.
        """
        parsed = {_parse(place): local for place, local in places.items()}
        hosts = dict.fromkeys(host for host, _ in parsed)
        addresses = {host: address for host, address in self.addresses.items() if host in hosts}
        free = (str(each) for each in IPv4Network(OUTSIDE_CIDR).hosts() if str(each) not in set(addresses.values()))
        addresses |= {host: next(free) for host in hosts if host not in addresses}
        return OutsideHosts(addresses, {(addresses[host], port): local for (host, port), local in parsed.items()})

    @classmethod
    def read(cls, file: Path) -> OutsideHosts:
        """Read what `write` wrote; nothing when there is no file or it is damaged."""
        try:
            content = json.loads(file.read_text())
            return cls(
                dict(content["addresses"]),
                {(address, int(port)): local for address, port, local in content["targets"]},
            )
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def write(self, file: Path) -> None:
        """Write it where the agent reads it."""
        targets = [[address, port, local] for (address, port), local in self.targets.items()]
        write_private(file, json.dumps({"addresses": dict(self.addresses), "targets": targets}) + "\n")


def _parse(place: str) -> tuple[str, int]:
    match = _PLACE.fullmatch(place)
    if match is None or not 0 < int(match["port"]) < 65536:
        raise FlotillaError("is no host and port", where=place, remedy="Write one such as db.example.com:3306")
    return match["host"], int(match["port"])
