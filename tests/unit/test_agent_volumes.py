"""Volumes: the right files, all at once, and again whenever their sources change."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from sandbox.agent import atomic_folder
from sandbox.agent.atomic_folder import File
from sandbox.agent.volumes import Sources, VolumeError, files, references
from tests.unit.agent_objects import pod

Json = dict[str, Any]
OBJECTS: dict[tuple[str, str], Json] = {
    ("Secret", "cert"): {"data": {"tls.crt": base64.b64encode(b"CRT").decode(), "tls.key": ""}},
    ("ConfigMap", "conf"): {"data": {"a": "1"}, "binaryData": {"b": base64.b64encode(b"\x00").decode()}},
}
SOURCES = Sources(
    find=lambda kind, name: OBJECTS.get((kind, name)),
    token=lambda audience, seconds: f"token for {audience} {seconds}",
)


def content(volume: Json) -> dict[str, File]:
    return files(pod(), {"name": "v", **volume}, SOURCES)


def test_secret_and_config_map_volumes_hold_every_key() -> None:
    assert content({"secret": {"secretName": "cert", "defaultMode": 0o400}}) == {
        "tls.crt": File(b"CRT", 0o400),
        "tls.key": File(b"", 0o400),
    }
    assert content({"configMap": {"name": "conf"}}) == {"a": File(b"1"), "b": File(b"\x00")}


def test_items_choose_keys_paths_and_modes() -> None:
    items = [{"key": "a", "path": "sub/x", "mode": 0o600}]
    assert content({"configMap": {"name": "conf", "items": items}}) == {"sub/x": File(b"1", 0o600)}


def test_service_account_volume_has_token_authority_and_namespace() -> None:
    sources = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
        {"configMap": {"name": "conf", "items": [{"key": "a", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
    assert content({"projected": {"sources": sources}}) == {
        "token": File(b"token for None 3607"),
        "ca.crt": File(b"1"),
        "namespace": File(b"demo"),
    }


@pytest.mark.parametrize(
    ("volume", "message"),
    [
        ({"secret": {"secretName": "none"}}, 'secret "demo/none" not found'),
        (
            {"configMap": {"name": "conf", "items": [{"key": "z", "path": "z"}]}},
            "configmap conf references non-existent key: z",
        ),
    ],
)
def test_missing_source_keeps_the_pod_waiting(volume: Json, message: str) -> None:
    with pytest.raises(VolumeError, match=message):
        content(volume)


def test_missing_optional_source_leaves_the_volume_empty() -> None:
    assert content({"secret": {"secretName": "none", "optional": True}}) == {}


def test_references_name_what_the_pod_must_follow() -> None:
    volumes = [
        {"name": "a", "secret": {"secretName": "cert"}},
        {"name": "b", "projected": {"sources": [{"configMap": {"name": "conf"}}, {"secret": {"name": "x"}}]}},
        {"name": "c", "emptyDir": {}},
    ]
    assert references(pod(volumes=volumes)) == {("Secret", "cert"), ("ConfigMap", "conf"), ("Secret", "x")}


def test_folder_shows_new_files_and_drops_old_ones(tmp_path: Path) -> None:
    assert atomic_folder.write(tmp_path, {"a": File(b"1"), "sub/b": File(b"2", 0o600)})
    assert atomic_folder.write(tmp_path, {"a": File(b"3"), "c": File(b"4")})
    assert atomic_folder.read(tmp_path) == {"a": File(b"3"), "c": File(b"4")}
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("..")) == ["a", "c"]
    assert (tmp_path / "a").read_bytes() == b"3"


def test_folder_is_left_alone_when_nothing_changed(tmp_path: Path) -> None:
    atomic_folder.write(tmp_path, {"a": File(b"1", 0o400)})
    before = (tmp_path / "..data").readlink()
    assert not atomic_folder.write(tmp_path, {"a": File(b"1", 0o400)})
    assert (tmp_path / "..data").readlink() == before


def test_folder_keeps_one_generation_only(tmp_path: Path) -> None:
    for number in range(5):
        atomic_folder.write(tmp_path, {"a": File(b"%d" % number)})
    assert len(list(tmp_path.iterdir())) == 3


def test_reader_inside_an_open_folder_sees_the_change(tmp_path: Path) -> None:
    atomic_folder.write(tmp_path, {"tls.crt": File(b"old")})
    path = tmp_path / "tls.crt"
    assert path.read_bytes() == b"old"
    atomic_folder.write(tmp_path, {"tls.crt": File(b"new")})
    assert path.read_bytes() == b"new"
