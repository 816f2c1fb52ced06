"""Writes manifests as a folder of files that reviews well: one object each, sorted, replaced as a whole."""

from __future__ import annotations

import errno
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from infra.errors import FlotillaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.manifests import Manifest

MARKER = ".flotilla-rendered"
CLUSTER = "_cluster"
"""Folder of objects that have no namespace."""


def write(folder: Path, manifests: Iterable[Manifest]) -> None:
    """Replace `folder` by one YAML file per object; the same objects give the same bytes.

    Raises:
        FlotillaError: the folder holds something else, or cannot be written; it is then as it was.
    """
    try:
        _check(folder)
        place = folder.absolute()
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
        try:
            _fill(fresh, manifests)
            fresh.chmod(0o755)
            _put(fresh, place)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise FlotillaError(
            "the disk is full" if full else f"cannot be written: {error.strerror}",
            where=str(folder),
            remedy=("Free some space, or choose" if full else "Choose") + " another folder with --output",
        ) from error


def path_of(manifest: Manifest) -> Path:
    """Return an object's file below the folder: NAMESPACE/KIND-NAME.yaml."""
    metadata = manifest["metadata"]
    kind = manifest["kind"].lower()
    name = metadata["name"].replace(":", "-")
    return Path(metadata.get("namespace", CLUSTER)) / f"{kind}-{name}.yaml"


def dump(manifest: Manifest) -> str:
    """Return an object as YAML with sorted keys and block text."""
    return yaml.dump(manifest, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=120)


def _check(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise FlotillaError("is not a folder", where=str(folder), remedy="Choose another with --output")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).exists():
        raise FlotillaError(
            "holds files that were not rendered",
            where=str(folder),
            remedy="Choose an empty folder with --output",
        )


def _put(fresh: Path, folder: Path) -> None:
    """Put the fresh folder in the other's place; that one is only moved aside until this has worked."""
    if not folder.exists():
        fresh.rename(folder)
        return
    aside = fresh.with_name(f"{fresh.name}-replaced")
    folder.rename(aside)
    try:
        fresh.rename(folder)
    except OSError:
        aside.rename(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _fill(folder: Path, manifests: Iterable[Manifest]) -> None:
    for manifest in manifests:
        path = folder / path_of(manifest)
        if path.exists():
            raise FlotillaError(f"two objects are written to {path.relative_to(folder)}")
        path.parent.mkdir(exist_ok=True)
        path.write_text(dump(manifest), encoding="utf-8")
    (folder / MARKER).write_text("Written by `flotilla render`; replaced as a whole by the next.\n")


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as a block, and repeats rather than anchors what occurs twice."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the library's signature
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
