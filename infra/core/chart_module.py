"""Charts that a Go module ships: packed from the module's zip, which Go's checksum database vouches for.

Such a chart can be had, and checked, wherever Go modules can, also where its maker's registry is out of reach.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.core.crds.gosum import hash1
from infra.core.crds.module_proxy import module_zip
from infra.errors import FlotillaError

if TYPE_CHECKING:
    import zipfile

    import httpx

UNREADABLE = "unreadable"
"""What stands in place of the digest of an archive that is damaged."""


@dataclass(frozen=True, kw_only=True)
class ChartModule:
    """The folder of a Go module that is a chart.

    Args:
        path: module path, for example `sigs.k8s.io/kueue`.
        version: module version, for example `v0.15.0`.
        h1: the module zip's hash as a go.sum line has it, `h1:` and base64.
        folder: the chart's folder in the module, for example `charts/kueue`.
        files: `sha256:` and hex of the chart's files, by which an archive packed earlier is known to be whole.
    """

    path: str
    version: str
    h1: str
    folder: str
    files: str

    def __str__(self) -> str:
        return f"{self.path}@{self.version}"


def pack(chart: str, module: ChartModule, *, client: httpx.Client | None = None) -> bytes:
    """Return the chart's archive as `helm package` would lay it out.

    Args:
        chart: the chart's name, which its archive's only folder carries.
        module: where its files are.
        client: HTTP client to download the module with.

    Raises:
        FlotillaError: the module cannot be had, is not the one that was pinned, or has no such folder.
    """
    with module_zip(module.path, module.version, h1=module.h1, client=client) as archive:
        return _packed(chart, str(module), module.folder, archive)


def described(chart: str, path: str, version: str, folder: str, *, client: httpx.Client | None = None) -> ChartModule:
    """Return a chart's folder in a module with the pins that it has now.

    Raises:
        FlotillaError: the module cannot be had, or has no such folder.
    """
    with module_zip(path, version, h1=None, client=client) as archive:
        files = files_digest(_packed(chart, f"{path}@{version}", folder, archive))
        return ChartModule(path=path, version=version, h1=hash1(archive), folder=folder, files=files)


def files_digest(archive: bytes) -> str:
    """Return `sha256:` and the hash of an archive's files, whatever their order, times and compression."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            hashes = {
                member.name: hashlib.sha256(content.read()).hexdigest()
                for member in tar
                if (content := tar.extractfile(member)) is not None
            }
    except (tarfile.TarError, zlib.error, OSError, EOFError):
        return UNREADABLE
    summary = "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes))
    return f"sha256:{hashlib.sha256(summary.encode()).hexdigest()}"


def _packed(chart: str, module: str, folder: str, archive: zipfile.ZipFile) -> bytes:
    prefix = f"{module}/{folder}/"
    files = {
        f"{chart}/{name.removeprefix(prefix)}": archive.read(name)
        for name in sorted(archive.namelist())
        if name.startswith(prefix)
    }
    if f"{chart}/Chart.yaml" not in files:
        raise FlotillaError(f"no chart in its folder {folder}", where=module, remedy="Correct the folder")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()
