"""Which images run as processes, by what, and where the image has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra import versions
from sandbox.agent.filesystem import plan
from sandbox.agent.images import PROCESS_IMAGES, ProcessImage, repository
from sandbox.agent.pod_folder import PodFolder

CLIENTS = (
    versions.MYSQL_CLIENT,
    versions.POSTGRESQL_CLIENT,
    versions.KAFKA_TOOLS,
    versions.CURL,
    versions.EVENT_EXPORTER,
)


def image(reference: str) -> ProcessImage:
    return PROCESS_IMAGES[repository(reference)]


def program(folder: Path, name: str) -> Path:
    path = folder / "installed" / "bin" / name
    path.parent.mkdir(parents=True)
    path.touch(mode=0o755)
    return path


@pytest.mark.parametrize("reference", [each.reference for each in CLIENTS], ids=repository)
def test_client_of_a_server_is_none_of_this_machines_own(
    reference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = image(reference)
    assert found.tool
    path = program(tmp_path, found.tool)
    monkeypatch.setenv("PATH", str(path.parent))

    assert found.program(tmp_path) is None
    assert found.program(path.parent) == path


def test_whole_installation_comes_along(tmp_path: Path) -> None:
    found = image(versions.KAFKA_TOOLS.reference)
    path = program(tmp_path, "kafka-topics.sh")

    entries = plan({"name": "main"}, found, path, PodFolder(tmp_path), {})

    (entry,) = (each for each in entries if each["source"] == str(tmp_path / "installed"))
    assert (entry["kind"], entry["target"], entry["read_only"]) == ("bind", "/opt/kafka", True)


def test_client_alone_lies_on_the_images_path(tmp_path: Path) -> None:
    found = image(versions.MYSQL_CLIENT.reference)
    path = program(tmp_path, "mariadb")

    entries = plan({"name": "main"}, found, path, PodFolder(tmp_path), {})

    (entry,) = (each for each in entries if each["source"] == str(path))
    assert str(Path(entry["target"]).parent) in found.environment["PATH"].split(":")
