"""Certificates of servers: offered, trusted, valid for long enough and for the name that is asked for."""

from __future__ import annotations

import datetime
import ssl
from typing import TYPE_CHECKING

from cryptography import x509

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.network.endpoint import NoTlsError
from ops.doctor.network.reach import UnreachableError, open_connection, side_by_side, unreachable
from ops.doctor.patience import patience

if TYPE_CHECKING:
    from ops.doctor.network.endpoint import Endpoint, Networked
    from ops.doctor.tls import TlsFiles

SOON_DAYS = 21
"""Below this, a certificate's renewal is late: automatic ones happen 30 days before the end."""

# OpenSSL's verify codes, from x509_vfy.h.
_NOT_YET_VALID, _EXPIRED = 9, 10
_UNTRUSTED = {
    18: "is self-signed and not among the trusted ones",
    19: "comes from an authority that is not trusted",
    20: "comes from an authority that is not trusted, or an intermediate certificate is missing",
    21: "cannot be traced to an authority: intermediate certificates are missing",
}
_WRONG_NAME = frozenset({62, 63, 64})


@check(
    "tls",
    "network",
    why="A client that verifies refuses a server whose certificate has expired, names another host or comes from an "
    "authority it does not know; one that does not verify talks to whoever answers.",
    run="Renew the server's certificate for all names it is reached by, and give its authority as `tls.ca`.",
    needs=("tcp",),
    waits=2,
)
def tls(probe: Networked) -> Verdicts:
    """TLS as the settings want it: offered, the chain up to the authority, the host's name, days until it expires."""
    files = probe.files
    if not files.tls.enabled:
        return [skip("the settings want no TLS")]
    return side_by_side(probe.endpoints, lambda endpoint: _look(endpoint, files, patience(probe.timeout)))


def _look(endpoint: Endpoint, files: TlsFiles, timeout: float) -> Verdict:
    host = endpoint.address.host
    try:
        context = files.context(verify=False)
    except ssl.SSLError:
        return fail(
            "the given certificates cannot be read",
            run="Look at them: openssl x509 -noout -text; the key must belong to the client's certificate",
            subject=endpoint.subject,
        )
    try:
        leaf = _handshake(endpoint, context, timeout)
    except UnreachableError:
        return unreachable(endpoint)
    except NoTlsError:
        return fail(
            "offers no TLS, and the settings want it",
            run="Turn TLS on at the server, or say `tls.mode: disable` where the network is trusted",
            subject=endpoint.subject,
        )
    except ssl.SSLError as error:
        return _refused(endpoint, error)
    except OSError as error:
        return fail(
            f"ends the connection when TLS begins ({error.strerror or error or 'closed'})",
            run="Look whether the port is the one for TLS, and at the server's log",
            subject=endpoint.subject,
        )
    if files.tls.mode in ("verify-ca", "verify-full"):
        try:
            _handshake(endpoint, files.context(), timeout)
        except ssl.SSLCertVerificationError as error:
            return _untrusted(endpoint, error, leaf)
        except ssl.SSLError as error:
            return _refused(endpoint, error)
    left = leaf.not_valid_after_utc - _now()
    until = f"{leaf.not_valid_after_utc:%Y-%m-%d}"
    if left < datetime.timedelta():
        return _expired(endpoint, leaf)
    if left.days < SOON_DAYS:
        return warn(
            f"the certificate expires in {left.days} days, on {until}",
            run=f"Renew the certificate of {host}, and look why nothing renewed it by itself",
            subject=endpoint.subject,
        )
    return ok(f"certificate valid until {until}, as `{files.tls.mode}` wants it", subject=endpoint.subject)


def _handshake(endpoint: Endpoint, context: ssl.SSLContext, timeout: float) -> x509.Certificate:
    """Return the server's certificate."""
    with open_connection(endpoint, timeout) as connection:
        endpoint.upgrade(connection)
        with context.wrap_socket(connection, server_hostname=endpoint.address.host) as secured:
            _provoke_refusal(secured)
            return x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"")


def _provoke_refusal(secured: ssl.SSLSocket) -> None:
    """Wait a moment for the alert by which a TLS 1.3 server refuses a client after the handshake has ended."""
    secured.settimeout(0.1)
    try:
        secured.recv(1)
    except (TimeoutError, ConnectionError):
        return


def _refused(endpoint: Endpoint, error: ssl.SSLError) -> Verdict:
    reason = (error.reason or "").upper()
    if "CERTIFICATE_REQUIRED" in reason or "HANDSHAKE_FAILURE" in reason or "BAD_CERTIFICATE" in reason:
        return fail(
            "refuses this client: it wants a client certificate that it trusts",
            run="Give one as `tls.clientCertificate`, of an authority that the server knows",
            subject=endpoint.subject,
        )
    if "WRONG_VERSION_NUMBER" in reason or "RECORD_LAYER_FAILURE" in reason:
        return fail(
            "answers, but not with TLS",
            run="Correct the port to the one for TLS, or turn TLS on at the server",
            subject=endpoint.subject,
        )
    return fail(
        f"breaks off the TLS handshake ({reason.lower().replace('_', ' ') or error})",
        run="Allow TLS 1.2 or 1.3 at the server, and look at its log",
        subject=endpoint.subject,
    )


def _untrusted(endpoint: Endpoint, error: ssl.SSLCertVerificationError, leaf: x509.Certificate) -> Verdict:
    host = endpoint.address.host
    code = error.verify_code
    if code == _EXPIRED:
        return _expired(endpoint, leaf)
    if code == _NOT_YET_VALID:
        return fail(
            f"the certificate is valid only from {leaf.not_valid_before_utc:%Y-%m-%d %H:%M} UTC on",
            run="Correct the clock of this machine, or of the one that made the certificate",
            subject=endpoint.subject,
        )
    if code in _WRONG_NAME:
        return fail(
            f"the certificate is for {', '.join(_names(leaf)) or 'nobody by name'}, not for {host}",
            run=f"Renew it with {host} among its alternative names, or address the server by a name it has",
            subject=endpoint.subject,
        )
    return fail(
        f"the certificate {_UNTRUSTED.get(code, f'is not accepted ({error.verify_message})')}; "
        f"it was issued by {leaf.issuer.rfc4514_string() or 'nobody by name'}",
        run="Give the authority's certificate as `tls.ca`, or say `tls.systemRoots: true` for a public one",
        subject=endpoint.subject,
    )


def _expired(endpoint: Endpoint, leaf: x509.Certificate) -> Verdict:
    return fail(
        f"the certificate expired on {leaf.not_valid_after_utc:%Y-%m-%d}",
        run=f"Renew the certificate of {endpoint.address.host}",
        subject=endpoint.subject,
    )


def _names(leaf: x509.Certificate) -> list[str]:
    """Return the host names and addresses that a certificate is for."""
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    addresses = names.get_values_for_type(x509.IPAddress)
    return [*names.get_values_for_type(x509.DNSName), *(str(address) for address in addresses)]


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
