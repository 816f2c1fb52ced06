from __future__ import annotations

from pathlib import Path

import pytest

from infra import paths
from infra.core.crds.changes import ABSENT, Change
from infra.core.crds.compare import Comparison
from infra.core.crds.gosum import zip_path
from infra.core.crds.pins import CrdSource
from ops import crds
from ops.cli import main
from tests.unit.crds_fakes import MODULE, VERSION, crd, module_zip, source_of_zip

ZIP = module_zip(crd("boats"), crd("sails"))


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirrored = tmp_path / "mirror" / "go" / zip_path(MODULE, VERSION)
    mirrored.parent.mkdir(parents=True)
    mirrored.write_bytes(ZIP)
    monkeypatch.setenv("FLOTILLA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("FLOTILLA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("infra.crd_sources.ALL", (source_of_zip(ZIP),))
    monkeypatch.setattr("infra.core.crds.checksums.published_h1", lambda *_, **__: None)


def run(*arguments: str) -> int:
    try:
        main(["crds", *arguments])
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def test_list_shows_what_is_pinned_and_what_is_cached(capsys: pytest.CaptureFixture[str]) -> None:
    run("list")
    assert "example.org/Boats@v1.2.0  2 CRDs, not fetched yet\n  boats.example.org\n" in capsys.readouterr().out

    run("fetch")
    assert "example.org/Boats@v1.2.0  2 CRDs verified" in capsys.readouterr().out

    run("list")
    assert "example.org/Boats@v1.2.0  2 CRDs, cached" in capsys.readouterr().out


def test_pin_prints_the_source_as_python(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pin", MODULE, VERSION) == 0

    printed = capsys.readouterr()
    assert eval(printed.out, {"CrdSource": CrdSource}) == source_of_zip(ZIP)  # noqa: S307 - our own output
    assert "sum.golang.org is out of reach" in printed.err


def test_pin_of_an_unknown_module_asks_for_its_paths(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pin", "example.org/planes", "v1.0.0") == 1
    assert "Give the files' pattern: --path" in capsys.readouterr().err


def test_diff_needs_a_stack(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "STACKS", tmp_path)
    assert run("diff", "moon") == 1
    assert "Pulumi.moon.yaml: there is no such stack" in capsys.readouterr().err

    (tmp_path / "Pulumi.moon.yaml").write_text("config: {}\n")
    assert run("diff", "moon") == 1
    assert "the stack names no cluster. Say which: --context CONTEXT, or pulumi config set" in capsys.readouterr().err


class Anywhere:
    def __init__(self, context: str) -> None:
        self.context = context

    def __enter__(self) -> Anywhere:
        return self

    def __exit__(self, *_: object) -> None: ...


def test_diff_shows_each_field_and_a_summary(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Pulumi.moon.yaml").write_text("config: {'flotilla:context': moon}\n")
    monkeypatch.setattr(paths, "STACKS", tmp_path)
    fields = (
        Change(path="spec.scope", before="Cluster", after="Namespaced"),
        Change(path="spec.names.shortNames", before=["bt"], after=ABSENT),
        Change(path="spec.new", before=ABSENT, after="x" * 80),
    )
    found = [
        Comparison(name="boats", changes=fields * 7),
        Comparison(name="sails"),
        Comparison(name="masts", exists=False),
        Comparison(name="oars", wanted=False),
    ]
    monkeypatch.setattr("infra.core.crds.cluster.Cluster", Anywhere)
    monkeypatch.setattr("infra.core.crds.compare.compare", lambda *_: found)
    monkeypatch.setattr(crds, "_bundles", lambda *_: [{"bundle": "fleet"}])

    assert run("diff", "moon") == 0

    printed = capsys.readouterr()
    assert printed.out.splitlines()[:4] == [
        "~ boats  (fleet)",
        '    ~ spec.scope: "Cluster" → "Namespaced"',
        '    - spec.names.shortNames: ["bt"]',
        f'    + spec.new: "{"x" * 58}…',
    ]
    assert printed.out.splitlines()[-3:] == [
        "    … and 1 more; --all shows them",
        "+ masts  (fleet) would be created",
        "- oars  (fleet) would be removed",
    ]
    assert printed.err == "1 as declared, 1 to create, 1 to change, 1 to remove\n"
