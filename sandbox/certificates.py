"""The sandbox's own public key infrastructure: authorities, certificates, the ServiceAccount key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sandbox.certificate_parts import alternative_names, authority, common_name, issued_by, leaf, private_pem
from sandbox.files import write_private

if TYPE_CHECKING:
    from pathlib import Path

_AUTHORITY_LIFETIME = timedelta(days=3650)
_LEAF_LIFETIME = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=30)
_CLOCK_SKEW = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class CertificateSpec:
    """What a certificate must say.

    Args:
        name: name of its files below the PKI folder.
        authority: name of the authority that signs it.
        common_name: to Kubernetes, the user.
        organizations: to Kubernetes, the user's groups.
        hosts: DNS names and IP addresses it is served under; none for a client's certificate.

    """

    name: str
    authority: str
    common_name: str
    organizations: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pki:
    """Certificates and keys in one folder, `<name>.crt` and `<name>.key`, readable by their owner only."""

    folder: Path

    def certificate(self, name: str) -> Path:
        """Return the path of a certificate."""
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        """Return the path of a private key."""
        return self.folder / f"{name}.key"

    def ensure_authority(self, name: str) -> bool:
        """Create a certificate authority unless a good one exists; return whether a new one was made."""
        if self._still_good(name):
            return False
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        subject = common_name(f"flotilla-sandbox-{name}")
        builder = authority(subject, key.public_key(), now - _CLOCK_SKEW, now + _AUTHORITY_LIFETIME)
        self._write(name, key, builder.sign(key, hashes.SHA256()))
        return True

    def ensure(self, spec: CertificateSpec) -> bool:
        """Issue a certificate unless a good one exists; return whether a new one was made.

        It is renewed when it nears its end, its authority was replaced, or its specification changed.
        """
        issuer = _read_certificate(self.certificate(spec.authority))
        if self._still_good(spec.name) and _says(_read_certificate(self.certificate(spec.name)), spec, issuer):
            return False
        authority_key = serialization.load_pem_private_key(self.key(spec.authority).read_bytes(), password=None)
        if not isinstance(authority_key, ec.EllipticCurvePrivateKey):
            raise TypeError(f"{self.key(spec.authority)} is not an elliptic curve key")
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        start, end = now - _CLOCK_SKEW, now + _LEAF_LIFETIME
        builder = leaf(_subject(spec), issuer, key.public_key(), start, end, spec.hosts)
        self._write(spec.name, key, builder.sign(authority_key, hashes.SHA256()))
        return True

    def ensure_key_pair(self, name: str) -> bool:
        """Create a private key and `<name>.pub` unless both exist; return whether they were made."""
        public = self.folder / f"{name}.pub"
        if self.key(name).is_file() and public.is_file():
            return False
        key = ec.generate_private_key(ec.SECP256R1())
        write_private(self.key(name), private_pem(key))
        write_private(
            public,
            key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
        )
        return True

    def _still_good(self, name: str) -> bool:
        if not (self.certificate(name).is_file() and self.key(name).is_file()):
            return False
        try:
            certificate = _read_certificate(self.certificate(name))
        except ValueError:
            return False
        return certificate.not_valid_after_utc - datetime.now(UTC) > _RENEW_BEFORE

    def _write(self, name: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        write_private(self.key(name), private_pem(key))
        write_private(self.certificate(name), certificate.public_bytes(serialization.Encoding.PEM))


def _read_certificate(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def _subject(spec: CertificateSpec) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in spec.organizations]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, spec.common_name)])


def _says(certificate: x509.Certificate, spec: CertificateSpec, issuer: x509.Certificate) -> bool:
    extensions = {extension.oid: extension.value for extension in certificate.extensions}
    hosts = alternative_names(spec.hosts) if spec.hosts else None
    return (
        certificate.subject == _subject(spec)
        and extensions.get(x509.AuthorityKeyIdentifier.oid) == issued_by(issuer)
        and extensions.get(x509.SubjectAlternativeName.oid) == hosts
    )
