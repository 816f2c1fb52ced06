"""Servers of which only the way there can be checked: their credentials are missing, or their language is another's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ops.doctor.network import endpoint
from ops.doctor.network.endpoint import Endpoint
from ops.doctor.secret import secrets_in
from ops.doctor.tls import TlsFiles

if TYPE_CHECKING:
    from ops.doctor.check import Verdict
    from ops.doctor.network.endpoint import Upgrade
    from ops.doctor.secret import Secret
    from ops.doctor.targets import EndpointTarget

_UPGRADES: dict[str, Upgrade] = {"mysql": endpoint.mysql, "postgresql": endpoint.postgres}


class EndpointProbe:
    """Addresses.

    Args:
        target: the target.
        timeout: seconds that one answer may take.
        protocol: what is spoken there before TLS begins.
    """

    def __init__(
        self, target: EndpointTarget, timeout: float, protocol: Literal["mysql", "postgresql", "direct"] = "direct"
    ) -> None:
        self.timeout = timeout
        self.files = TlsFiles(target.tls)
        self.secrets: frozenset[Secret] = frozenset(secrets_in(target))
        upgrade = _UPGRADES.get(protocol, endpoint.direct)
        self.endpoints = tuple(
            Endpoint(name=target.name, address=address, upgrade=upgrade) for address in target.addresses
        )

    @property
    def subject(self) -> str:
        """Return where the target is declared, and its first address."""
        return self.endpoints[0].subject

    def explain(self, error: Exception) -> Verdict | None:
        """Return None: network checks judge their errors themselves."""
        del error
        return None

    def close(self) -> None:
        """Remove the certificates' files."""
        self.files.close()
