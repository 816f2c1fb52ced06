"""The ways to an artifact: a mirror folder, the registry's own client on this machine, the documented address."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import httpx
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from infra.core.crds.module_proxy import MIRROR
from tests.servers.catalog import Artifact

_ATTEMPTS = 4
_TIMEOUT_SECONDS = 60.0
_CLIENT_SECONDS = 900
BETWEEN_ATTEMPTS = wait_random_exponential(multiplier=0.5, max=8)
"""How long to wait after each failure that may pass."""


class UnavailableError(Exception):
    """A program cannot be had on this machine; the message says why and what to do."""


def fetch(artifacts: Sequence[Artifact], folder: Path, *, client: httpx.Client | None = None) -> dict[Artifact, Path]:
    """Bring artifacts into a folder, each checked against its digest.

    Args:
        artifacts: what to bring.
        folder: an existing folder.
        client: HTTP client for documented addresses.

    Raises:
        UnavailableError: one cannot be had in any way.
    """
    files = {artifact: folder / artifact.file for artifact in artifacts}
    refusals: dict[Artifact, list[str]] = {artifact: [] for artifact in artifacts}
    for way in (_from_mirror, _from_clients, lambda missing, to: _from_addresses(missing, to, client)):
        missing = [artifact for artifact in artifacts if not _good(artifact, files[artifact])]
        if not missing:
            break
        for artifact, reason in way(missing, folder).items():
            refusals[artifact].append(reason)
    for artifact, file in files.items():
        if not _good(artifact, file):
            reasons = "; ".join(refusals[artifact]) or "nothing has it"
            raise UnavailableError(
                f"{artifact} cannot be had: {reasons}. Put {artifact.file} into $FLOTILLA_MIRROR/servers"
            )
    return files


def _good(artifact: Artifact, file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == artifact.sha256


Refusals = dict[Artifact, str]


def _from_mirror(missing: Sequence[Artifact], folder: Path) -> Refusals:
    mirror = os.environ.get(MIRROR)
    if mirror:
        for artifact in missing:
            source = Path(mirror).expanduser() / "servers" / artifact.file
            if source.is_file():
                shutil.copyfile(source, folder / artifact.file)
    return {}


def _from_clients(missing: Sequence[Artifact], folder: Path) -> Refusals:
    refusals: Refusals = {}
    for registry, (program, ask) in _CLIENTS.items():
        wanted = [artifact for artifact in missing if artifact.registry == registry]
        if wanted and shutil.which(program):
            reason = ask(wanted, folder)
            refusals |= {
                artifact: reason or f"{program} brought something else than was pinned"
                for artifact in wanted
                if not _good(artifact, folder / artifact.file)
            }
    return refusals


def _ask_maven(wanted: Sequence[Artifact], folder: Path) -> str | None:
    dependencies = "".join(_dependency(artifact) for artifact in wanted)
    own = "<groupId>flotilla.dev</groupId><artifactId>servers</artifactId><version>1</version>"
    project = folder / "pom.xml"
    project.write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        f"{own}<packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>"
    )
    goal = ("dependency:copy-dependencies", "-DexcludeTransitive=true", f"-DoutputDirectory={folder}")
    return _run(["mvn", "--quiet", "--batch-mode", "--file", str(project), *goal], folder)


def _dependency(artifact: Artifact) -> str:
    group, _, name = artifact.name.partition(":")
    exclusions = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
    return (
        f"<dependency><groupId>{escape(group)}</groupId><artifactId>{escape(name)}</artifactId>"
        f"<version>{escape(artifact.version)}</version>{exclusions}</dependency>"
    )


def _ask_debian(wanted: Sequence[Artifact], folder: Path) -> str | None:
    failure = _run(["apt-get", "download", *(f"{each.name}={each.version}" for each in wanted)], folder)
    for artifact in wanted:
        for file in folder.glob(f"{artifact.name}_*.deb"):
            file.rename(folder / artifact.file)
    return failure


def _ask_pypi(wanted: Sequence[Artifact], folder: Path) -> str | None:
    requirements = folder / "requirements.txt"
    requirements.write_text("".join(f"{each.name}=={each.version} --hash=sha256:{each.sha256}\n" for each in wanted))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    failure = _run([*command, "--dest", str(folder), "--requirement", str(requirements)], folder)
    for artifact in wanted:
        for file in folder.glob(f"{artifact.name}-{artifact.version}-*.whl"):
            file.rename(folder / artifact.file)
    return failure


_CLIENTS: dict[str, tuple[str, Callable[[Sequence[Artifact], Path], str | None]]] = {
    "maven": ("mvn", _ask_maven),
    "debian": ("apt-get", _ask_debian),
    "pypi": (sys.executable, _ask_pypi),
}
"""For each registry its client, and how to ask it; the answer is what went wrong, if anything did."""


def _run(command: list[str], folder: Path) -> str | None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_CLIENT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]}: {error}"
    if done.returncode == 0:
        return None
    said = [line for line in done.stdout.splitlines() if line.strip()]
    return f"{command[0]} failed: {said[0] if said else done.returncode}"


def _from_addresses(missing: Sequence[Artifact], folder: Path, client: httpx.Client | None) -> Refusals:
    with httpx.Client(timeout=_TIMEOUT_SECONDS, follow_redirects=True) if client is None else client as used:
        reasons = {artifact: _download(used, artifact, folder / artifact.file) for artifact in missing}
    return {artifact: reason for artifact, reason in reasons.items() if reason}


def _download(client: httpx.Client, artifact: Artifact, file: Path) -> str | None:
    if artifact.address is None:
        return None
    attempts = Retrying(
        retry=retry_if_exception(_passing), stop=stop_after_attempt(_ATTEMPTS), wait=BETWEEN_ATTEMPTS, reraise=True
    )
    try:
        attempts(_download_once, client, artifact.address, file)
    except httpx.HTTPStatusError as error:
        return f"{artifact.address} answered {error.response.status_code}"
    except httpx.HTTPError as error:
        return f"{artifact.address}: {error or type(error).__name__}"
    return None if _good(artifact, file) else f"{artifact.address} has something else than was pinned"


def _download_once(client: httpx.Client, address: str, file: Path) -> None:
    with client.stream("GET", address) as response, file.open("wb") as content:
        response.raise_for_status()
        for chunk in response.iter_bytes():
            content.write(chunk)


def _passing(error: BaseException) -> bool:
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code >= 500 or error.response.status_code == 429
    return isinstance(error, httpx.TransportError)
