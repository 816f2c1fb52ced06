"""`flotilla charts`: what is pinned, what is fetched, and what to pin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from infra.core import chart_archive
from infra.core.chart_module import ChartModule
from infra.core.chart_source import ChartSource
from infra.core.crds.gosum import zip_path
from ops.cli import main
from tests.unit.crds_fakes import MODULE, VERSION, module_zip

ARCHIVE = b"an archive"
SOURCE = ChartSource(
    repository="https://charts.example.org",
    chart="boats",
    version="1.0.0",
    digest=chart_archive.digest(ARCHIVE),
)
INDEX = {
    "boats": f"- version: 1.0.0\n    digest: {(SOURCE.digest or '').removeprefix('sha256:')}\n    urls: [boats.tgz]",
    "sails": "- version: 1.0.0\n    urls: [sails.tgz]",
}


@pytest.fixture(autouse=True)
def charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mirror" / "charts").mkdir(parents=True)
    (tmp_path / "mirror" / "charts" / SOURCE.archive).write_bytes(ARCHIVE)
    monkeypatch.setenv("FLOTILLA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setattr("infra.paths.STATE", tmp_path / "state")
    monkeypatch.setattr("infra.chart_sources.ALL", (SOURCE, replace(SOURCE, chart="sails", digest=None)))
    entries = "".join(f"  {name}:\n  {text}\n" for name, text in INDEX.items())
    transport = httpx.MockTransport(lambda _: httpx.Response(200, text=f"entries:\n{entries}"))
    client = httpx.Client(transport=transport)
    monkeypatch.setattr(chart_archive.httpx, "Client", lambda **_: client)


def run(*arguments: str) -> int:
    try:
        main(["charts", *arguments])
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def test_list_says_which_charts_are_pinned_by_version_only(capsys: pytest.CaptureFixture[str]) -> None:
    run("list")

    printed = " ".join(capsys.readouterr().out.split())
    assert f"boats 1.0.0 https://charts.example.org {SOURCE.digest}" in printed
    assert "sails 1.0.0 https://charts.example.org pinned by version only" in printed


def test_fetch_keeps_what_is_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("fetch")

    printed = capsys.readouterr()
    assert (tmp_path / "state" / "charts" / SOURCE.archive).read_bytes() == ARCHIVE
    assert "boats-1.0.0.tgz verified" in printed.out
    assert "sails 1.0.0 not fetched" in " ".join(printed.err.split())


def test_pin_prints_the_source_as_python(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pin", SOURCE.repository, "boats", "1.0.0") == 0

    assert eval(capsys.readouterr().out, {"ChartSource": ChartSource}) == SOURCE  # noqa: S307 - our own output


def test_pin_says_how_to_hash_what_the_index_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pin", SOURCE.repository, "sails", "1.0.0") == 1

    assert "Hash sails-1.0.0.tgz yourself: sha256sum" in " ".join(capsys.readouterr().err.split())


def test_chart_of_a_module_is_pinned_by_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mirrored = tmp_path / "mirror" / "go" / zip_path(MODULE, VERSION)
    mirrored.parent.mkdir(parents=True)
    mirrored.write_bytes(module_zip(extra={"charts/sails/Chart.yaml": b"name: sails\n"}))
    monkeypatch.setenv("FLOTILLA_MIRROR", str(tmp_path / "mirror"))
    asked = ("pin", "oci://charts.example.org", "sails", "1.2.0", "--module")

    assert run(*asked, f"{MODULE}@{VERSION}") == 0

    printed = capsys.readouterr().out
    source = eval(printed, {"ChartSource": ChartSource, "ChartModule": ChartModule})  # noqa: S307 - our own output
    assert (source.chart, source.version, source.module.folder) == ("sails", "1.2.0", "charts/sails")
    assert chart_archive.fetch(source, tmp_path / "state").name == "sails-1.2.0.tgz"
    assert run(*asked, MODULE) == 1
    assert f"names no version. Write {MODULE}@v1.2.0" in " ".join(capsys.readouterr().err.split())
