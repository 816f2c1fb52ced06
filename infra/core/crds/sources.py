"""A bundle's schemas: from the per-user cache, else from the module, always checked against their pins."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from filelock import FileLock

from infra.core.crds.pins import CrdSource, Manifest, canonical, fingerprint
from infra.errors import FlotillaError
from infra.paths import cache_dir

if TYPE_CHECKING:
    import httpx

KIND = "CustomResourceDefinition"


def manifests(source: CrdSource, *, client: httpx.Client | None = None) -> list[Manifest]:
    """Return the CRDs of `source` by name, exactly as pinned; download the module when they are not cached.

    The cache is addressed by content: a damaged entry counts as missing, and many processes may share it.

    Raises:
        FlotillaError: the module cannot be had, or it does not hold what was pinned.

    """
    cached = {name: _cached(pin) for name, pin in source.crds.items()}
    if None in cached.values():
        lock = cache_dir() / "crds" / f"{str(source).replace('/', '_')}.lock"
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(lock):
                cached = {name: _cached(pin) for name, pin in source.crds.items()}
                if None in cached.values():
                    cached = dict(_fetched(source, client))
        except OSError as error:
            raise FlotillaError(
                f"cannot write the cache ({error.strerror or error})",
                where=str(lock.parent),
                remedy="Free some space there, or set FLOTILLA_CACHE to another folder",
            ) from error
    return [cast("Manifest", json.loads(content)) for _, content in sorted(cached.items()) if content]


def is_cached(source: CrdSource) -> bool:
    """Tell whether every schema of `source` can be had without any download."""
    return all(_cached(pin) is not None for pin in source.crds.values())


def read_crds(archive: zipfile.ZipFile, paths: tuple[str, ...], *, where: str) -> dict[str, Manifest]:
    """Return the CRDs, by name, in those files of a module zip that match one of `paths`.

    Raises:
        FlotillaError: no file matches, or one is not YAML.

    """
    found: dict[str, Manifest] = {}
    for entry in archive.namelist():
        inner = entry.partition("@")[2].partition("/")[2]
        if any(fnmatch.fnmatchcase(inner, pattern) and inner.count("/") == pattern.count("/") for pattern in paths):
            for document in _documents(archive.read(entry), where=f"{where}/{inner}"):
                if document.get("kind") == KIND:
                    found[document["metadata"]["name"]] = document
    if not found:
        raise FlotillaError(
            f"no CRD in any file that matches {', '.join(paths)}", where=where, remedy="Correct the paths"
        )
    return found


def _documents(content: bytes, *, where: str) -> Iterator[dict[str, Any]]:
    import yaml

    try:
        for document in yaml.load_all(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(document, dict):
                yield {key: value for key, value in document.items() if key != "status"}
    except yaml.YAMLError as error:
        raise FlotillaError("not readable as YAML", where=where, remedy="Choose a released version") from error


def _fetched(source: CrdSource, client: httpx.Client | None) -> Iterator[tuple[str, bytes]]:
    from infra.core.crds.module_proxy import module_zip

    with module_zip(source.module, source.version, h1=source.h1, client=client) as archive:
        found = read_crds(archive, source.paths, where=str(source))
    for name, pin in source.crds.items():
        actual = fingerprint(found[name]) if name in found else "missing"
        if actual != pin:
            raise FlotillaError(
                f"{name} is {actual} in the module, pinned is {pin}",
                where=str(source),
                remedy=f"Renew the pins: flotilla crds pin {source.module} {source.version}",
            )
        yield name, _store(pin, canonical(found[name]))


def _blob(pin: str) -> Path:
    return cache_dir() / "crds" / f"{pin.removeprefix('sha256:')}.json"


def _cached(pin: str) -> bytes | None:
    try:
        content = _blob(pin).read_bytes()
    except OSError:
        return None
    return content if hashlib.sha256(content).hexdigest() == pin.removeprefix("sha256:") else None


def _store(pin: str, content: bytes) -> bytes:
    file = _blob(pin)
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".new-", delete=False) as new:
        try:
            new.write(content)
            new.flush()
            Path(new.name).replace(file)
        except BaseException:
            Path(new.name).unlink(missing_ok=True)
            raise
    return content
