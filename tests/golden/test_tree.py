"""A rendered folder is replaced as a whole, or not at all, and never instead of something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.errors import FlotillaError
from ops import tree


def config_map(name: str, namespace: str | None = "harbour", **data: str) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_each_object_is_one_file_by_namespace_kind_and_name(tmp_path: Path) -> None:
    tree.write(tmp_path / "out", [config_map("boat"), config_map("sea", namespace=None)])

    assert sorted(files(tmp_path / "out")) == [
        tree.MARKER,
        "_cluster/configmap-sea.yaml",
        "harbour/configmap-boat.yaml",
    ]
    assert yaml.safe_load(files(tmp_path / "out")["harbour/configmap-boat.yaml"]) == config_map("boat")


def test_the_same_objects_in_another_order_are_the_same_bytes(tmp_path: Path) -> None:
    one, other = config_map("one", b="2", a="1"), config_map("other")
    tree.write(tmp_path / "first", [one, other])
    tree.write(tmp_path / "second", [other, dict(reversed(one.items()))])

    assert files(tmp_path / "first") == files(tmp_path / "second")


def test_files_of_objects_that_are_gone_are_removed(tmp_path: Path) -> None:
    tree.write(tmp_path / "out", [config_map("boat"), config_map("raft", namespace="pond")])
    tree.write(tmp_path / "out", [config_map("boat")])

    assert sorted(files(tmp_path / "out")) == [tree.MARKER, "harbour/configmap-boat.yaml"]


def test_nothing_is_left_beside_the_folder(tmp_path: Path) -> None:
    tree.write(tmp_path / "out", [config_map("boat")])
    tree.write(tmp_path / "out", [config_map("boat")])

    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_empty_folder_is_filled(tmp_path: Path) -> None:
    tree.write(tmp_path, [config_map("boat")])

    assert "harbour/configmap-boat.yaml" in files(tmp_path)


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")

    with pytest.raises(FlotillaError, match="holds files that were not rendered"):
        tree.write(tmp_path, [config_map("boat")])

    assert files(tmp_path) == {"thesis.txt": b"years of work"}


def test_file_in_the_folders_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("years of work")

    with pytest.raises(FlotillaError, match="is not a folder"):
        tree.write(tmp_path / "out", [config_map("boat")])

    assert files(tmp_path) == {"out": b"years of work"}


def test_folder_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(FlotillaError, match="cannot be written: File exists"):
        tree.write(tmp_path / "file" / "out", [config_map("boat")])


@pytest.mark.parametrize("manifests", [[config_map("boat"), config_map("boat")], [{"kind": "Broken"}]])
def test_failure_leaves_the_folder_as_it_was(tmp_path: Path, manifests: list[dict[str, Any]]) -> None:
    tree.write(tmp_path / "out", [config_map("before")])
    before = files(tmp_path)

    with pytest.raises((FlotillaError, KeyError)):
        tree.write(tmp_path / "out", manifests)

    assert files(tmp_path) == before


def test_failure_to_move_into_place_brings_the_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write(tmp_path / "out", [config_map("before")])
    before = files(tmp_path)
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if target.name == "out" and not path.name.endswith("-replaced"):
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(FlotillaError, match="the disk is full"):
        tree.write(tmp_path / "out", [config_map("after")])

    assert files(tmp_path) == before


def test_two_objects_in_one_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FlotillaError, match=r"two objects are written to harbour/configmap-boat\.yaml"):
        tree.write(tmp_path / "out", [config_map("boat"), config_map("boat")])

    assert list(tmp_path.iterdir()) == []


def test_long_text_is_a_block_and_nothing_is_an_anchor() -> None:
    shared = {"a": "one\ntwo\n"}

    assert tree.dump({"x": shared, "y": shared}) == "x:\n  a: |\n    one\n    two\ny:\n  a: |\n    one\n    two\n"


@pytest.mark.parametrize("value", ["yes", "1", "1e3", "null", "0x1f", " spaced ", "a: b", "'", "2001-01-01", "~", ""])
def test_text_stays_text(value: str) -> None:
    assert yaml.safe_load(tree.dump({"key": value})) == {"key": value}
