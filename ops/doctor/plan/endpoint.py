"""Servers of which only the way there can be checked: their credentials are missing, or their language is another's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ops.doctor.network import endpoint
from ops.doctor.network.endpoint import Endpoint
from ops.doctor.server_probe import ServerProbe

if TYPE_CHECKING:
    from ops.doctor.check import Verdict
    from ops.doctor.network.endpoint import Upgrade
    from ops.doctor.targets import EndpointTarget

_UPGRADES: dict[str, Upgrade] = {"mysql": endpoint.mysql, "postgresql": endpoint.postgres}


class EndpointProbe(ServerProbe["EndpointTarget"]):
    """Addresses.

    Args:
        target: the target.
        timeout: seconds that one answer may take.
        protocol: what is spoken there before TLS begins.
    """

    def __init__(
        self, target: EndpointTarget, timeout: float, protocol: Literal["mysql", "postgresql", "direct"] = "direct"
    ) -> None:
        upgrade = _UPGRADES.get(protocol, endpoint.direct)
        endpoints = (Endpoint(name=target.name, address=address, upgrade=upgrade) for address in target.addresses)
        super().__init__(target, endpoints, timeout)

    def explain(self, error: Exception) -> Verdict | None:
        """Return None: network checks judge their errors themselves."""
        del error
        return None

    def close(self) -> None:
        """Remove the certificates' files."""
        self.files.close()
