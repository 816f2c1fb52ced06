"""Go's module checksum, the `h1:` hash in every go.sum, without Go.

Source: golang.org/x/mod/sumdb/dirhash, functions `Hash1` and `HashZip`.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile

_CHUNK = 1 << 20


def hash1(archive: zipfile.ZipFile) -> str:
    """Return the `h1:` hash of a module zip: the hash of its sorted list of file hashes and names."""
    summary = hashlib.sha256()
    for name in sorted(archive.namelist()):
        content = hashlib.sha256()
        with archive.open(name) as file:
            while chunk := file.read(_CHUNK):
                content.update(chunk)
        summary.update(f"{content.hexdigest()}  {name}\n".encode())
    return "h1:" + base64.b64encode(summary.digest()).decode()


def zip_path(module: str, version: str) -> str:
    """Return where a Go module proxy, or a folder laid out as one, has the module's zip."""
    return f"{escaped(module)}/@v/{escaped(version)}.zip"


def escaped(path: str) -> str:
    """Spell capitals as `!` and the small letter, as module proxies do for case-blind file systems."""
    return re.sub("[A-Z]", lambda capital: "!" + capital[0].lower(), path)
