"""What a failed build means to the person waiting for it: one line instead of a compiler's pages."""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.errors import FlotillaError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class _Cause:
    signs: tuple[str, ...]
    what: str
    remedy: str

    def shows_in(self, line: str) -> bool:
        return any(sign in line for sign in self.signs)


_DISK = "Free some space (a first build takes about 6 GB), or point FLOTILLA_CACHE, GOCACHE and TMPDIR to a larger disk"

_CAUSES = (
    _Cause(("no space left on device", "disk quota exceeded"), "the disk is full", _DISK),
    _Cause(
        ("SECURITY ERROR", "checksum mismatch"),
        "a downloaded module is not what go.sum says",
        "Run `go clean -modcache` and try again; if it stays, do not trust the module proxy (GOPROXY)",
    ),
    _Cause(
        ("missing go.sum entry", "updates to go.mod needed", "go.mod file not found"),
        "the checkout's go.mod or go.sum is incomplete",
        "Restore it with `git checkout -- sandbox/toolchain`",
    ),
    _Cause(
        ("disabled by GOPROXY=off", "GOPROXY list is not the empty string"),
        "GOPROXY does not allow downloads",
        "Set GOPROXY to a module proxy that this machine can reach",
    ),
    _Cause(
        (
            ": 401 ",
            ": 403 ",
            ": 404 ",
            ": 407 ",
            ": 410 ",
            "unrecognized import path",
        ),
        "the module proxy refused a module",
        "Set GOPROXY to a module proxy that has it",
    ),
    _Cause(
        (
            "dial tcp",
            "no such host",
            "connection refused",
            "connection reset",
            "network is unreachable",
            "i/o timeout",
            "TLS handshake",
            "proxyconnect",
            "x509:",
        ),
        "the module proxy cannot be reached",
        "Check the network, HTTPS_PROXY and GOPROXY, then run the command again: it goes on where it stopped",
    ),
    _Cause(
        ("requires go >=", "toolchain not available"),
        "this Go is too old for the module",
        "Install a newer Go, or take Go off PATH so that the pinned one is used",
    ),
    _Cause(
        ("signal: killed", "cannot allocate memory", "out of memory"),
        "the compiler ran out of memory",
        "Close other programs, or add memory or swap: the largest compile needs 4 GB",
    ),
    _Cause(
        ("permission denied", "read-only file system"),
        "a cache folder cannot be written",
        "Make it writable, or point FLOTILLA_CACHE, GOCACHE and GOMODCACHE to folders that are",
    ),
)

_NOISE = re.compile(r"^(go: (downloading|finding|extracting) |#|\s*$)")


def build_failed(title: str, log: Path) -> FlotillaError:
    """Return the error for a build of `title` whose output is in `log`."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    telling = [line.strip() for line in lines if not _NOISE.match(line)]
    for cause in _CAUSES:
        line = next((line for line in telling if cause.shows_in(line)), None)
        if line is not None:
            what = f"{cause.what} ({_shorten(line)})"
            return FlotillaError(what, where=f"building {title}", remedy=f"{cause.remedy}. Full log: {log}")
    last = _shorten(telling[-1]) if telling else "no output"
    return FlotillaError(f"the build failed ({last})", where=f"building {title}", remedy=f"Full log: {log}")


def cache_failed(error: OSError, cache: Path) -> FlotillaError:
    """Return the error for a cache folder that cannot be used."""
    place = str(error.filename or cache)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FlotillaError("the disk is full", where=place, remedy=_DISK)
    reason = error.strerror or str(error)
    remedy = "Make the folder usable, or point FLOTILLA_CACHE to one that is"
    return FlotillaError(f"cannot keep the toolchain here ({reason})", where=place, remedy=remedy)


def _shorten(line: str, limit: int = 160) -> str:
    return line if len(line) <= limit else line[: limit - 1] + "…"
