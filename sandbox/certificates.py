"""The sandbox's own public key infrastructure: authorities, certificates, the ServiceAccount key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sandbox.files import write_private

if TYPE_CHECKING:
    from collections.abc import Sequence
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
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"flotilla-sandbox-{name}")])
        certificate = (
            _builder(subject, subject, key.public_key(), _AUTHORITY_LIFETIME)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_key_usage(authority=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        self._write(name, key, certificate)
        return True

    def ensure(self, spec: CertificateSpec) -> bool:
        """Issue a certificate unless a good one exists; return whether a new one was made.

        It is renewed when it nears its end, its authority was replaced, or its specification changed.
        """
        authority = _read_certificate(self.certificate(spec.authority))
        if self._still_good(spec.name) and _says(_read_certificate(self.certificate(spec.name)), spec, authority):
            return False
        authority_key = serialization.load_pem_private_key(self.key(spec.authority).read_bytes(), password=None)
        if not isinstance(authority_key, ec.EllipticCurvePrivateKey):
            raise TypeError(f"{self.key(spec.authority)} is not an elliptic curve key")
        key = ec.generate_private_key(ec.SECP256R1())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        if spec.hosts:
            usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
        builder = (
            _builder(_subject(spec), authority.subject, key.public_key(), _LEAF_LIFETIME)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(authority=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(_issued_by(authority), critical=False)
        )
        if spec.hosts:
            builder = builder.add_extension(_alternative_names(spec.hosts), critical=False)
        self._write(spec.name, key, builder.sign(authority_key, hashes.SHA256()))
        return True

    def ensure_key_pair(self, name: str) -> bool:
        """Create a private key and `<name>.pub` unless both exist; return whether they were made."""
        public = self.folder / f"{name}.pub"
        if self.key(name).is_file() and public.is_file():
            return False
        key = ec.generate_private_key(ec.SECP256R1())
        write_private(self.key(name), _private_pem(key))
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
        write_private(self.key(name), _private_pem(key))
        write_private(self.certificate(name), certificate.public_bytes(serialization.Encoding.PEM))


def _read_certificate(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, lifetime: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + lifetime)
    )


def _subject(spec: CertificateSpec) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in spec.organizations]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, spec.common_name)])


def _key_usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _alternative_names(hosts: Sequence[str]) -> x509.SubjectAlternativeName:
    names: list[x509.GeneralName] = []
    for host in hosts:
        try:
            names.append(x509.IPAddress(ip_address(host)))
        except ValueError:
            names.append(x509.DNSName(host))
    return x509.SubjectAlternativeName(names)


def _issued_by(authority: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    identifier = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)


def _says(certificate: x509.Certificate, spec: CertificateSpec, authority: x509.Certificate) -> bool:
    extensions = {extension.oid: extension.value for extension in certificate.extensions}
    hosts = _alternative_names(spec.hosts) if spec.hosts else None
    return (
        certificate.subject == _subject(spec)
        and extensions.get(x509.AuthorityKeyIdentifier.oid) == _issued_by(authority)
        and extensions.get(x509.SubjectAlternativeName.oid) == hosts
    )
