from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from cryptography import x509

from sandbox import certificates
from sandbox.certificates import CertificateSpec, Pki
from sandbox.control_plane import CERTIFICATES, ensure_certificates

if TYPE_CHECKING:
    from pathlib import Path

SERVER = CertificateSpec(
    name="server",
    authority="ca",
    common_name="somebody",
    organizations=("group",),
    hosts=("localhost", "10.96.0.1"),
)


@pytest.fixture
def pki(tmp_path: Path) -> Pki:
    created = Pki(tmp_path)
    created.ensure_authority("ca")
    return created


def read(pki: Pki, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pki.certificate(name).read_bytes())


def test_certificate_says_who_and_where_and_is_signed_by_its_authority(pki: Pki) -> None:
    assert pki.ensure(SERVER)
    certificate = read(pki, "server")
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["10.96.0.1"]
    assert certificate.subject.rfc4514_string() == "CN=somebody,O=group"
    certificate.verify_directly_issued_by(read(pki, "ca"))


def test_good_certificate_is_kept(pki: Pki) -> None:
    pki.ensure(SERVER)
    before = pki.certificate("server").read_bytes()
    assert not pki.ensure(SERVER)
    assert not pki.ensure_authority("ca")
    assert pki.certificate("server").read_bytes() == before


def test_certificate_near_its_end_is_renewed(pki: Pki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "_LEAF_LIFETIME", timedelta(days=29))
    pki.ensure(SERVER)
    monkeypatch.undo()
    assert pki.ensure(SERVER)
    assert read(pki, "server").not_valid_after_utc > datetime.now(UTC) + timedelta(days=300)


def test_certificate_is_renewed_when_its_authority_was_replaced(pki: Pki) -> None:
    pki.ensure(SERVER)
    pki.certificate("ca").unlink()
    assert pki.ensure_authority("ca")
    assert pki.ensure(SERVER)
    read(pki, "server").verify_directly_issued_by(read(pki, "ca"))


@pytest.mark.parametrize(
    "changed",
    [
        CertificateSpec(name="server", authority="ca", common_name="other", hosts=SERVER.hosts),
        CertificateSpec(name="server", authority="ca", common_name="somebody", organizations=("group",)),
    ],
)
def test_certificate_is_renewed_when_its_specification_changed(pki: Pki, changed: CertificateSpec) -> None:
    pki.ensure(SERVER)
    assert pki.ensure(changed)


@pytest.mark.parametrize("content", [b"", b"not a certificate"])
def test_damaged_certificate_is_replaced(pki: Pki, content: bytes) -> None:
    pki.ensure(SERVER)
    pki.certificate("server").write_bytes(content)
    assert pki.ensure(SERVER)


def test_keys_are_readable_by_their_owner_only(pki: Pki) -> None:
    pki.ensure(SERVER)
    pki.ensure_key_pair("service-account")
    for key in pki.folder.glob("*.key"):
        assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_service_account_key_outlives_renewals(pki: Pki) -> None:
    assert pki.ensure_key_pair("service-account")
    assert not pki.ensure_key_pair("service-account")


def test_whole_control_plane_is_issued_once(tmp_path: Path) -> None:
    pki = Pki(tmp_path)
    assert ensure_certificates(pki)
    assert not ensure_certificates(pki)
    assert all(pki.certificate(spec.name).is_file() for spec in CERTIFICATES)


def test_etcd_trusts_no_certificate_that_the_cluster_can_sign() -> None:
    signers = {spec.name: spec.authority for spec in CERTIFICATES}
    assert signers["etcd"] == signers["etcd-client"] != signers["admin"]
