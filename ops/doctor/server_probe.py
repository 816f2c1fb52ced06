"""What the probes of all servers share: the target, its addresses and certificates, and how long to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ops.doctor.patience import patience
from ops.doctor.secret import secrets_in
from ops.doctor.tls import TlsFiles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.doctor.network.endpoint import Endpoint
    from ops.doctor.secret import Secret
    from ops.doctor.targets import Tls


class Protected(Protocol):
    """A target with TLS settings."""

    @property
    def tls(self) -> Tls:
        """Return how connections are protected."""
        ...


T = TypeVar("T", bound=Protected)


class ServerProbe(Generic[T]):
    """A target that is reached over the network.

    Args:
        target: the target.
        endpoints: its addresses; the first stands for all in findings.
        timeout: seconds that one answer may take.
    """

    def __init__(self, target: T, endpoints: Iterable[Endpoint], timeout: float) -> None:
        self.target = target
        self.endpoints = tuple(endpoints)
        self.timeout = timeout
        self.files = TlsFiles(target.tls)
        self.secrets: frozenset[Secret] = frozenset(secrets_in(target))

    @property
    def subject(self) -> str:
        """Return where the target is declared, and its first address."""
        return self.endpoints[0].subject

    @property
    def patience(self) -> float:
        """Return seconds that one answer may take, less what is needed to say so."""
        return patience(self.timeout)
