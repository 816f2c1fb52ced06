"""A chart that a Go module ships is packed from it, checked by its files, and installed like any other."""

from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from infra import chart_sources, crd_sources
from infra.core import chart_archive, chart_module
from infra.core.chart_source import ChartSource
from infra.core.crds.gosum import zip_path
from infra.errors import FlotillaError
from tests.unit.crds_fakes import MODULE, VERSION, module_zip

FILES = {
    "charts/boats/Chart.yaml": b"name: boats\nversion: 1.0.0\n",
    "charts/boats/templates/boat.yaml": b"kind: ConfigMap\n",
    "charts/boats-of-others/Chart.yaml": b"name: others\n",
    "LICENSE": b"free\n",
}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ChartSource:
    """Return the pin of a chart whose module lies in the mirror, the only place it can be had from."""
    mirrored = tmp_path / "mirror" / "go" / zip_path(MODULE, VERSION)
    mirrored.parent.mkdir(parents=True)
    mirrored.write_bytes(module_zip(extra=FILES))
    monkeypatch.setenv("FLOTILLA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("GOPROXY", "off")
    module = chart_module.described("boats", MODULE, VERSION, "charts/boats")
    return ChartSource(repository="https://charts.example.org", chart="boats", version="1.0.0", module=module)


def test_archive_holds_the_charts_folder_and_nothing_else(source: ChartSource, tmp_path: Path) -> None:
    file = chart_archive.fetch(source, tmp_path / "charts")

    with tarfile.open(file) as tar:
        assert tar.getnames() == ["boats/Chart.yaml", "boats/templates/boat.yaml"]


def test_archive_is_known_by_its_files_however_it_was_packed(source: ChartSource, tmp_path: Path) -> None:
    file = chart_archive.fetch(source, tmp_path / "charts")
    other = io.BytesIO()
    with tarfile.open(file) as tar, tarfile.open(fileobj=other, mode="w:gz", compresslevel=1) as again:
        for member in reversed(tar.getmembers()):
            member.mtime = 1
            again.addfile(member, tar.extractfile(member))

    assert source.pin == chart_module.files_digest(file.read_bytes())
    assert chart_module.files_digest(other.getvalue()) == source.pin


@pytest.mark.parametrize("damage", [b"", b"no archive", None])
def test_damaged_archive_is_packed_again(source: ChartSource, tmp_path: Path, damage: bytes | None) -> None:
    file = chart_archive.fetch(source, tmp_path / "charts")
    whole = file.read_bytes()
    file.write_bytes(whole[:-20] if damage is None else damage)

    assert chart_module.files_digest(chart_archive.fetch(source, tmp_path / "charts").read_bytes()) == source.pin


def test_chart_whose_files_are_not_the_pinned_ones_is_refused(source: ChartSource, tmp_path: Path) -> None:
    assert source.module
    other = replace(source, module=replace(source.module, files="sha256:other"))

    with pytest.raises(FlotillaError, match=r"boats 1\.0\.0: the archive is sha256:.*, pinned is sha256:other"):
        chart_archive.fetch(other, tmp_path / "charts")

    assert not (tmp_path / "charts").exists()


def test_module_that_is_not_the_pinned_one_is_refused(source: ChartSource, tmp_path: Path) -> None:
    assert source.module
    other = replace(source, module=replace(source.module, h1="h1:other"))

    with pytest.raises(FlotillaError, match="checksum mismatch"):
        chart_archive.fetch(other, tmp_path / "charts")


def test_folder_without_a_chart_is_named(source: ChartSource) -> None:
    with pytest.raises(FlotillaError, match=f"{MODULE}@{VERSION}: no chart in its folder charts/rafts"):
        chart_module.described("rafts", MODULE, VERSION, "charts/rafts")


def test_applied_chart_is_installed_from_the_module_and_rendered_one_from_its_repository(
    source: ChartSource, tmp_path: Path
) -> None:
    with chart_archive.fetched(tmp_path / "charts"):
        found = chart_archive.location(source)

    assert found is not None
    assert Path(found).resolve() == tmp_path / "charts" / "boats-1.0.0.tgz"
    assert chart_archive.location(source) is None


def test_kueues_chart_and_schemas_are_of_one_module() -> None:
    module = chart_sources.KUEUE.module
    assert module is not None

    assert (module.path, module.version) == (crd_sources.KUEUE.module, crd_sources.KUEUE.version)
    assert module.version == f"v{chart_sources.KUEUE.version}"
    assert {name.partition(".")[2] for name in crd_sources.KUEUE.crds} == set(chart_sources.KUEUE.groups)
