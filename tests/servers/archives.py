"""Unpacks what the registries serve: jars, Debian's packages, compressed archives."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

_MAGIC = b"!<arch>\n"
_HEADER_BYTES = 60


def unpack_zip(archive: Path, folder: Path, *, below: str = "") -> None:
    """Unpack the files of a zip that lie below a folder of it; permissions are kept where it has them."""
    with zipfile.ZipFile(archive) as content:
        for entry in content.infolist():
            if entry.is_dir() or not entry.filename.startswith(below):
                continue
            target = folder / entry.filename.removeprefix(below)
            if not target.resolve().is_relative_to(folder.resolve()):
                raise ValueError(f"{archive.name} has a file outside of itself: {entry.filename}")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read(entry))
            if mode := entry.external_attr >> 16 & 0o777:
                target.chmod(mode)


def unpack_tar(content: bytes, folder: Path) -> None:
    """Unpack a tar archive, compressed in whichever way."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter=_without_outside_links)  # noqa: S202 - the filter keeps it below the folder


def unpack_debian(package: Path, folder: Path) -> None:
    """Unpack the files of a Debian package."""
    unpack_tar(next(data for name, data in _members(package) if name.startswith("data.tar")), folder)


def _without_outside_links(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """Leave out links into the system, as packages have them to files that others own."""
    try:
        return tarfile.data_filter(member, folder)
    except (tarfile.AbsoluteLinkError, tarfile.LinkOutsideDestinationError):
        return None


def _members(package: Path) -> list[tuple[str, bytes]]:
    data = package.read_bytes()
    if not data.startswith(_MAGIC):
        raise ValueError(f"{package.name} is no Debian package")
    members: list[tuple[str, bytes]] = []
    position = len(_MAGIC)
    while position + _HEADER_BYTES <= len(data):
        header = data[position : position + _HEADER_BYTES]
        start, size = position + _HEADER_BYTES, int(header[48:58])
        members.append((header[:16].decode().strip().rstrip("/"), data[start : start + size]))
        position = start + size + size % 2
    return members
