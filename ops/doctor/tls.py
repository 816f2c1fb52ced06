"""Contexts and files for TLS clients, made of certificates that were read from the cluster."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from ops.doctor.targets import Tls


class TlsFiles:
    """A target's certificates as files, which some clients insist on; only their owner can read them.

    Args:
        tls: how connections are protected.
    """

    def __init__(self, tls: Tls) -> None:
        self.tls = tls
        self._folder = tempfile.TemporaryDirectory(prefix="flotilla-doctor-")  # mode 700
        self.ca = self._write("ca.crt", tls.ca)
        self.certificate = self._write("tls.crt", tls.certificate)
        self.key = self._write("tls.key", tls.key.value if tls.key else None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()

    def context(self, *, verify: bool | None = None) -> ssl.SSLContext:
        """Return a client's context.

        Args:
            verify: whether to verify at all; None does what the mode says.
        """
        context = ssl.create_default_context(cafile=str(self.ca) if self.ca else None)
        checked = self.tls.mode in ("verify-ca", "verify-full") if verify is None else verify
        context.check_hostname = checked and self.tls.mode != "verify-ca"
        context.verify_mode = ssl.CERT_REQUIRED if checked else ssl.CERT_NONE
        if self.certificate:
            context.load_cert_chain(self.certificate, self.key)
        return context

    def _write(self, name: str, content: str | None) -> Path | None:
        if content is None:
            return None
        path = Path(self._folder.name, name)
        path.touch(mode=0o600)
        path.write_text(content, encoding="utf-8")
        return path
