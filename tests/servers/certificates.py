"""A certificate authority for tests, which also issues what a good one would not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sandbox.certificate_parts import authority, common_name, leaf, private_pem

_LIFETIME = timedelta(days=30)
_CLOCK_SKEW = timedelta(minutes=5)


@dataclass(frozen=True)
class Certificate:
    """Files in PEM: the certificate, its key (PKCS #8), and the authority's certificate."""

    path: Path
    key: Path
    authority: Path


class Authority:
    """A certificate authority in a folder.

    Args:
        folder: takes its files; made when missing.
        name: its common name.
    """

    def __init__(self, folder: Path, name: str = "flotilla-tests") -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        builder = authority(common_name(name), self._key.public_key(), now - _CLOCK_SKEW, now + 2 * _LIFETIME)
        self._certificate = builder.sign(self._key, hashes.SHA256())
        self.path = folder / "ca.crt"
        self.path.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue(
        self,
        name: str,
        *hosts: str,
        user: str | None = None,
        expired: bool = False,
        lifetime: timedelta = _LIFETIME,
    ) -> Certificate:
        """Issue a certificate.

        Args:
            name: name of its files.
            hosts: DNS names and addresses a server is reached under; none for a client.
            user: common name; the first host when left out.
            expired: whether it has ended an hour ago.
            lifetime: how long it is valid from now on.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        end = now - timedelta(hours=1) if expired else now + lifetime
        start = min(now, end) - _LIFETIME
        builder = leaf(common_name(user or hosts[0]), self._certificate, key.public_key(), start, end, hosts)
        made = Certificate(self._folder / f"{name}.crt", self._folder / f"{name}.key", self.path)
        made.path.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        made.key.touch(mode=0o600)
        made.key.write_bytes(private_pem(key))
        return made
