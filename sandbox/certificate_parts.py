"""What every certificate here is made of, the sandbox's own and those that tests issue."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cryptography.hazmat.primitives.asymmetric import ec


def common_name(name: str) -> x509.Name:
    """Return the name that consists of a common name only."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def authority(
    name: x509.Name, key: ec.EllipticCurvePublicKey, start: datetime, end: datetime
) -> x509.CertificateBuilder:
    """Return the certificate of an authority that signs itself, to be signed."""
    return (
        _builder(name, name, key, start, end)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_key_usage(authority=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def leaf(
    subject: x509.Name,
    issuer: x509.Certificate,
    key: ec.EllipticCurvePublicKey,
    start: datetime,
    end: datetime,
    hosts: Sequence[str] = (),
) -> x509.CertificateBuilder:
    """Return the certificate of a client, or with hosts of a server that may also be a client, to be signed.

    Args:
        subject: whom it certifies.
        issuer: the certificate of the authority that will sign it.
        key: the subject's.
        start: when it begins to be valid.
        end: when it ends.
        hosts: DNS names and IP addresses it is served under.
    """
    usages = [ExtendedKeyUsageOID.CLIENT_AUTH, *([ExtendedKeyUsageOID.SERVER_AUTH] if hosts else [])]
    builder = (
        _builder(subject, issuer.subject, key, start, end)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(issued_by(issuer), critical=False)
    )
    return builder.add_extension(alternative_names(hosts), critical=False) if hosts else builder


def alternative_names(hosts: Sequence[str]) -> x509.SubjectAlternativeName:
    """Return DNS names and IP addresses as an extension."""
    names: list[x509.GeneralName] = []
    for host in hosts:
        try:
            names.append(x509.IPAddress(ip_address(host)))
        except ValueError:
            names.append(x509.DNSName(host))
    return x509.SubjectAlternativeName(names)


def issued_by(issuer: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    """Return the extension that says which authority signed."""
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)


def private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return a key in PEM, as PKCS #8 without a password."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, start: datetime, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
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
