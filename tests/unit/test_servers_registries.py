"""How the real servers' artifacts are found: in order, checked, and with every refusal said."""

from __future__ import annotations

import hashlib
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import httpx
import pytest
from tenacity import wait_none

from sandbox.tools import catalog as sandbox_catalog
from tests.servers import catalog, registries
from tests.servers.archives import unpack_debian, unpack_zip
from tests.servers.catalog import Artifact
from tests.servers.registries import UnavailableError, fetch

CONTENT = b"the artifact"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
JAR = Artifact(registry="maven", name="org.example.group:thing", version="1.2", sha256=SHA256)
DEB = Artifact(registry="debian", name="thing", version="1:2-3", sha256=SHA256, place="debian/pool/t/thing_2-3_all.deb")


@pytest.fixture(autouse=True)
def _no_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registries, "_CLIENTS", {})
    monkeypatch.setattr(registries, "BETWEEN_ATTEMPTS", wait_none())
    monkeypatch.delenv("FLOTILLA_MIRROR", raising=False)


def client(*answers: int | bytes) -> tuple[httpx.Client, list[str]]:
    """Return a client that gives these answers in turn, and the addresses it was asked for."""
    asked: list[str] = []
    left = list(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        given = left.pop(0)
        return httpx.Response(given) if isinstance(given, int) else httpx.Response(200, content=given)

    return httpx.Client(transport=httpx.MockTransport(answer)), asked


def test_artifact_comes_from_its_documented_address(tmp_path: Path) -> None:
    web, asked = client(CONTENT)

    files = fetch([JAR], tmp_path, client=web)

    assert files[JAR].read_bytes() == CONTENT
    assert asked[0].endswith("/maven2/org/example/group/thing/1.2/thing-1.2.jar")


def test_mirror_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirrored = tmp_path / "mirror" / "servers" / DEB.file
    mirrored.parent.mkdir(parents=True)
    mirrored.write_bytes(CONTENT)
    monkeypatch.setenv("FLOTILLA_MIRROR", str(tmp_path / "mirror"))
    web, asked = client()

    fetch([DEB], tmp_path, client=web)

    assert asked == []


def test_failure_that_may_pass_is_tried_again(tmp_path: Path) -> None:
    web, asked = client(503, 429, CONTENT)

    fetch([JAR], tmp_path, client=web)

    assert len(asked) == 3


def test_artifact_that_is_not_there_is_said_with_a_remedy(tmp_path: Path) -> None:
    web, asked = client(404)

    with pytest.raises(UnavailableError, match=r"thing 1:2-3 cannot be had: .* answered 404\. Put thing_2-3_all\.deb"):
        fetch([DEB], tmp_path, client=web)

    assert len(asked) == 1


def test_artifact_that_was_changed_is_refused(tmp_path: Path) -> None:
    web, _ = client(b"something else")

    with pytest.raises(UnavailableError, match="something else than was pinned"):
        fetch([JAR], tmp_path, client=web)


def test_every_pin_is_readable_and_has_a_digest() -> None:
    pins = catalog.parse((catalog.FOLDER / "pins.txt").read_text())

    assert set(pins) == {"mariadb", "postgresql", "kafka", "java", "rabbitmq", "psql"}
    for program in pins.values():
        assert len({artifact.file for artifact in program}) == len(program)
        assert all(len(artifact.sha256) == 64 for artifact in program)


def test_debian_package_is_unpacked_without_links_into_the_system(tmp_path: Path) -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        file = tarfile.TarInfo("./usr/bin/thing")
        file.size, file.mode = 3, 0o755
        archive.addfile(file, io.BytesIO(b"run"))
        link = tarfile.TarInfo("./usr/bin/alias")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/alternatives/alias"
        archive.addfile(link)
    data = lzma.compress(content.getvalue())
    package = tmp_path / "thing.deb"
    package.write_bytes(b"!<arch>\n" + _member("debian-binary", b"2.0\n") + _member("data.tar.xz", data))

    unpack_debian(package, tmp_path / "out")

    assert (tmp_path / "out/usr/bin/thing").read_bytes() == b"run"
    assert not (tmp_path / "out/usr/bin/alias").is_symlink()


def test_zip_with_a_file_outside_of_itself_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "bad.jar"
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("inner/../../escaped", "x")

    with pytest.raises(ValueError, match="outside of itself"):
        unpack_zip(archive, tmp_path / "out", below="inner/")


def _member(name: str, data: bytes) -> bytes:
    return f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)


def test_every_module_is_locked_and_none_is_of_the_sandboxs_toolchain() -> None:
    modules = (catalog.EVENT_EXPORTER, catalog.MINIO)

    assert {path.name for path in (catalog.FOLDER / "toolchain").iterdir()} == {module.name for module in modules}
    assert all(f"{module.origin} v" in (module.folder / "go.sum").read_text() for module in modules)
    assert not {module.name for module in modules} & {module.name for module in sandbox_catalog.MODULES}
