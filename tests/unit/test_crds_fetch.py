from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tenacity import wait_none

from infra.core.crds import module_proxy
from infra.core.crds.checksums import check_published
from infra.core.crds.pins import CrdSource
from infra.core.crds.sources import is_cached, manifests
from infra.errors import FlotillaError
from tests.unit.crds_fakes import MODULE, VERSION, crd, module_zip, source_of_zip

ZIP = module_zip(crd("boats"), crd("sails"))
SOURCE = source_of_zip(ZIP)
Handler = Callable[[httpx.Request], httpx.Response]


class Proxy:
    """A module proxy that counts what it is asked for."""

    def __init__(self, content: bytes = ZIP, statuses: tuple[int, ...] = ()) -> None:
        self.requests: list[str] = []
        self._content = content
        self._statuses = list(statuses)
        self.client = httpx.Client(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(str(request.url))
        status = self._statuses.pop(0) if self._statuses else 200
        return httpx.Response(status, content=self._content if status == 200 else b"")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLOTILLA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GOPROXY", "https://proxy.test,direct")
    monkeypatch.delenv("FLOTILLA_MIRROR", raising=False)
    monkeypatch.setattr(module_proxy, "BETWEEN_ATTEMPTS", wait_none())
    return tmp_path / "cache"


def names(source: CrdSource, proxy: Proxy) -> list[str]:
    return [manifest["metadata"]["name"] for manifest in manifests(source, client=proxy.client)]


def test_module_is_downloaded_once_and_then_cached() -> None:
    proxy = Proxy()

    assert not is_cached(SOURCE)
    assert names(SOURCE, proxy) == ["boats.example.org", "sails.example.org"]
    assert names(SOURCE, proxy) == ["boats.example.org", "sails.example.org"]
    assert is_cached(SOURCE)
    assert proxy.requests == ["https://proxy.test/example.org/!boats/@v/v1.2.0.zip"]


def test_only_the_chosen_crds_are_returned() -> None:
    assert names(SOURCE.keeping(("sails.example.org",)), Proxy()) == ["sails.example.org"]


def test_damaged_cache_entry_is_fetched_again(own_cache: Path) -> None:
    proxy = Proxy()
    names(SOURCE, proxy)
    for entry in (own_cache / "crds").glob("*.json"):
        entry.write_bytes(entry.read_bytes()[:-10])

    assert names(SOURCE, proxy) == ["boats.example.org", "sails.example.org"]
    assert len(proxy.requests) == 2


def test_many_at_once_download_once_and_agree() -> None:
    proxy = Proxy()
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append(names(SOURCE, proxy))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [["boats.example.org", "sails.example.org"]] * 8
    assert len(proxy.requests) == 1


def test_failed_download_leaves_nothing_in_the_cache(own_cache: Path) -> None:
    with pytest.raises(FlotillaError, match="404"):
        names(SOURCE, Proxy(statuses=(404,)))

    assert not list((own_cache / "crds").glob("*.json"))
    assert not list((own_cache / "crds").glob(".new-*"))


def test_passing_failures_are_tried_again() -> None:
    proxy = Proxy(statuses=(503, 429))

    assert len(names(SOURCE, proxy)) == 2
    assert len(proxy.requests) == 3


def test_lasting_refusal_is_not_tried_again() -> None:
    proxy = Proxy(statuses=(403, 403))

    with pytest.raises(FlotillaError, match="answered 403 Forbidden"):
        names(SOURCE, proxy)
    assert len(proxy.requests) == 1


def test_no_network_and_no_cache_says_where_a_mirror_keeps_the_zip() -> None:
    def unplugged(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("Name or service not known", request=request)

    client = httpx.Client(transport=httpx.MockTransport(unplugged))
    with pytest.raises(FlotillaError) as caught:
        manifests(SOURCE, client=client)

    message = str(caught.value)
    assert message.startswith(f"{MODULE}@{VERSION}: cannot download https://proxy.test/")
    assert "Name or service not known" in message
    assert "FLOTILLA_MIRROR to a folder that has the zip at go/example.org/!boats/@v/v1.2.0.zip" in message


def test_forbidden_downloads_are_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOPROXY", "off")
    proxy = Proxy()

    with pytest.raises(FlotillaError, match=r"GOPROXY=off forbids the download.*FLOTILLA_MIRROR"):
        names(SOURCE, proxy)
    assert not proxy.requests


@pytest.mark.parametrize(
    ("setting", "used"),
    [
        ("", module_proxy.DEFAULT_PROXY),
        ("direct", module_proxy.DEFAULT_PROXY),
        ("file:///mnt/modules|https://proxy.test/go/,direct", "https://proxy.test/go"),
    ],
)
def test_first_web_entry_of_goproxy_is_used(setting: str, used: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOPROXY", setting)

    assert module_proxy.proxy(MODULE, VERSION) == used


def test_mirror_is_used_instead_of_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirrored = tmp_path / "mirror" / "go" / "example.org" / "!boats" / "@v" / "v1.2.0.zip"
    mirrored.parent.mkdir(parents=True)
    mirrored.write_bytes(ZIP)
    monkeypatch.setenv("FLOTILLA_MIRROR", str(tmp_path / "mirror"))
    proxy = Proxy()

    assert len(names(SOURCE, proxy)) == 2
    assert not proxy.requests


def test_mirror_without_the_module_falls_back_to_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOTILLA_MIRROR", str(tmp_path))

    assert len(names(SOURCE, Proxy())) == 2


def test_changed_module_is_refused() -> None:
    changed = module_zip(crd("boats"), crd("sails"), extra={"README.md": b"changed"})

    with pytest.raises(FlotillaError, match=r"checksum mismatch: its hash is h1:.*, pinned is h1:"):
        names(SOURCE, Proxy(changed))


def test_answer_that_is_no_zip_is_refused() -> None:
    with pytest.raises(FlotillaError, match="not a readable zip"):
        names(SOURCE, Proxy(b"<html>log in</html>"))


def test_pin_that_the_module_does_not_match_is_refused() -> None:
    wrong = CrdSource(
        module=MODULE,
        version=VERSION,
        h1=SOURCE.h1,
        paths=SOURCE.paths,
        crds={**SOURCE.crds, "sails.example.org": "sha256:" + "0" * 64},
    )

    with pytest.raises(FlotillaError, match=r"sails\.example\.org is sha256:.*flotilla crds pin example\.org/Boats"):
        names(wrong, Proxy())


def test_paths_match_within_their_folder_only() -> None:
    content = module_zip(crd("boats"), extra={"crds/old/sails.yaml": b"kind: CustomResourceDefinition"})

    assert list(source_of_zip(content).crds) == ["boats.example.org"]


def test_paths_without_crds_are_an_error() -> None:
    with pytest.raises(FlotillaError, match=r"no CRD in any file that matches nothing/\*\.yaml"):
        source_of_zip(ZIP, ("nothing/*.yaml",))


def test_cache_that_cannot_be_written_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FLOTILLA_CACHE", str(tmp_path / "file"))

    with pytest.raises(FlotillaError, match=r"cannot write the cache .*FLOTILLA_CACHE"):
        names(SOURCE, Proxy())


def database(lines: str, status: int = 200) -> httpx.Client:
    return httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(status, text=lines)))


def test_published_checksum_confirms_the_module() -> None:
    lines = f"1\n{MODULE} {VERSION} h1:right\n{MODULE} {VERSION}/go.mod h1:other\n"

    assert check_published(MODULE, VERSION, "h1:right", client=database(lines))


def test_published_checksum_refuses_another_module() -> None:
    with pytest.raises(FlotillaError, match=r"the module's hash is h1:wrong, sum\.golang\.org has h1:right"):
        check_published(MODULE, VERSION, "h1:wrong", client=database(f"{MODULE} {VERSION} h1:right\n"))


def test_published_checksum_out_of_reach_is_told() -> None:
    assert not check_published(MODULE, VERSION, "h1:any", client=database("", status=410))
