"""A certificate authority for tests, which also issues what a good one would not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

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
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.now(UTC)
        certificate = (
            _builder(self._name, self._name, self._key, now - _CLOCK_SKEW, now + 2 * _LIFETIME)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_key_usage(authority=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self.path = folder / "ca.crt"
        self.path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

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
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, user or hosts[0])])
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH, *([ExtendedKeyUsageOID.SERVER_AUTH] if hosts else [])]
        builder = (
            _builder(subject, self._name, key, min(now, end) - _LIFETIME, end)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(authority=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_general_name(host) for host in hosts]), critical=False
            )
        made = Certificate(self._folder / f"{name}.crt", self._folder / f"{name}.key", self.path)
        made.path.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        made.key.touch(mode=0o600)
        made.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return made


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, start: datetime, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
    )


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


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)
