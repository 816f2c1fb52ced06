"""Makes a values folder of the valid base and an overlay."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from infra.errors import FlotillaError
from infra.settings import Settings, load

FIXTURES = Path(__file__).parent


def make(folder: Path, overlay: str | bytes | None) -> Path:
    """Return a values folder whose environment `dev` lays the overlay over the valid base."""
    values = folder / "values"
    values.mkdir(exist_ok=True)
    shutil.copy(FIXTURES / "base.yaml", values / "base.yaml")
    if overlay is not None:
        (values / "dev.yaml").write_bytes(overlay.encode() if isinstance(overlay, str) else overlay)
    return values


def load_overlay(folder: Path, overlay: str) -> Settings:
    """Return the settings of the valid base with an overlay."""
    return load("dev", make(folder, overlay))


def message(folder: Path, overlay: str | bytes | None) -> str:
    """Return what a user is told about an overlay, with paths from the folder that holds `values`."""
    with pytest.raises(FlotillaError) as caught:
        load("dev", make(folder, overlay))
    return str(caught.value).replace(f"{folder.as_posix()}/", "")
