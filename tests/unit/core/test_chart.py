"""A chart is one atomic release of a pinned archive, checked before Helm sees it, and Flux's objects when rendered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra import chart_sources
from infra.core import chart_archive, chart_registry
from infra.core.chart import TYPE, Chart, ChartArgs
from infra.core.chart_source import ChartSource
from infra.errors import FlotillaError
from infra.settings.models.settings import Settings
from ops import manifests
from tests.unit.core.parsing import everything
from tests.unit.core.recording import record

ARCHIVE = b"an archive"
SOURCE = ChartSource(
    repository="https://charts.example.org/fleet",
    chart="boat-operator",
    version="1.2.3",
    digest=chart_archive.digest(ARCHIVE),
)
INDEX = f"""
entries:
  boat-operator:
  - version: 1.3.0
    urls: [boat-operator-1.3.0.tgz]
  - version: 1.2.3
    digest: {SOURCE.digest.removeprefix("sha256:") if SOURCE.digest else ""}
    urls: [releases/boat-operator-1.2.3.tgz]
"""


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLOTILLA_MIRROR", raising=False)


def repository(archive: bytes = ARCHIVE, index: str = INDEX) -> httpx.Client:
    """Return a client whose every address is the example repository's."""
    files = {
        "/fleet/index.yaml": index.encode(),
        "/fleet/releases/boat-operator-1.2.3.tgz": archive,
    }

    def answer(request: httpx.Request) -> httpx.Response:
        content = files.get(request.url.path)
        return httpx.Response(200, content=content) if content is not None else httpx.Response(404)

    return httpx.Client(transport=httpx.MockTransport(answer))


REGISTRY = replace(SOURCE, repository="oci://registry.example.org/fleet/charts")


def registry(*, asks: bool = True) -> httpx.Client:
    """Return a client whose every address is the example registry's, which wants a token when it `asks`."""
    manifest = {"layers": [{"mediaType": chart_registry.LAYER, "digest": SOURCE.digest}]}
    base = "/v2/fleet/charts/boat-operator"
    challenge = 'Bearer realm="https://tokens.example.org/token",service="registry",scope="pull"'

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/token":
            assert dict(request.url.params) == {"service": "registry", "scope": "pull"}
            return httpx.Response(200, json={"token": "for-anybody"})
        if asks and request.headers.get("authorization") != "Bearer for-anybody":
            return httpx.Response(401, headers={"www-authenticate": challenge})
        if request.url.path == f"{base}/manifests/1.2.3":
            return httpx.Response(200, json=manifest)
        found = request.url.path == f"{base}/blobs/{SOURCE.digest}"
        return httpx.Response(200, content=ARCHIVE) if found else httpx.Response(404)

    return httpx.Client(transport=httpx.MockTransport(answer))


def release(**changes: Any) -> dict[str, Any]:
    """Return the inputs of the release that the example chart makes."""
    args = replace(ChartArgs(source=SOURCE, namespace="harbour", part_of="fleet", values={"replicas": 2}), **changes)
    recording = record(lambda: Chart("boats", args))
    (found,) = [resource.inputs for resource in recording.resources if resource.type == TYPE]
    return found


def test_release_succeeds_as_a_whole_or_is_rolled_back() -> None:
    inputs = release()

    assert inputs["atomic"] is True
    assert inputs["skipAwait"] is False
    assert inputs["createNamespace"] is False
    assert (inputs["name"], inputs["namespace"]) == ("boats", "harbour")
    assert inputs["values"] == {"replicas": 2}


def test_hooks_run_only_where_asked_for() -> None:
    assert release()["disableWebhooks"] is True
    assert release(hooks=True)["disableWebhooks"] is False


def test_declaring_a_chart_fetches_nothing() -> None:
    inputs = release()

    assert (inputs["chart"], inputs["version"]) == ("boat-operator", "1.2.3")
    assert inputs["repositoryOpts"] == {"repo": "https://charts.example.org/fleet"}


def test_applying_a_chart_installs_the_archive_that_was_checked(tmp_path: Path) -> None:
    chart_archive.fetch(SOURCE, tmp_path, client=repository())

    with chart_archive.fetched(tmp_path):
        inputs = release()

    assert not Path(inputs["chart"]).is_absolute()
    assert Path(inputs["chart"]).resolve() == (tmp_path / "boat-operator-1.2.3.tgz").resolve()
    assert "repositoryOpts" not in inputs


def test_charts_without_a_digest_are_left_to_helm(tmp_path: Path) -> None:
    with chart_archive.fetched(tmp_path):
        assert release(source=replace(SOURCE, digest=None))["chart"] == "boat-operator"


def test_archive_in_state_is_fetched_again_when_it_was_changed(tmp_path: Path) -> None:
    file = chart_archive.fetch(SOURCE, tmp_path, client=repository())
    file.write_bytes(b"changed")

    assert chart_archive.fetch(SOURCE, tmp_path, client=repository()).read_bytes() == ARCHIVE
    assert [each.name for each in tmp_path.iterdir()] == ["boat-operator-1.2.3.tgz"]


def test_archive_comes_from_the_mirror_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / SOURCE.archive).write_bytes(ARCHIVE)
    monkeypatch.setenv("FLOTILLA_MIRROR", str(tmp_path))

    assert chart_archive.fetch(SOURCE, tmp_path / "state", client=repository(archive=b"other")).read_bytes() == ARCHIVE


@pytest.mark.parametrize("asks", [True, False])
def test_archive_comes_from_a_registry_by_its_digest(tmp_path: Path, asks: bool) -> None:
    assert chart_archive.fetch(REGISTRY, tmp_path, client=registry(asks=asks)).read_bytes() == ARCHIVE
    assert chart_archive.published(REGISTRY, client=registry(asks=asks)) == SOURCE.digest


def test_version_that_a_registry_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(FlotillaError, match=r"manifests/9: cannot download boat-operator 9 \(the answer was 404\)"):
        chart_archive.published(replace(REGISTRY, version="9"), client=registry())


def test_charts_of_a_registry_are_named_by_one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = release(source=REGISTRY)
    helm_release, source = rendered(monkeypatch, source=REGISTRY)

    assert inputs["chart"] == "oci://registry.example.org/fleet/charts/boat-operator"
    assert "repositoryOpts" not in inputs
    assert source["spec"] == {"interval": "1h", "url": "oci://registry.example.org/fleet/charts", "type": "oci"}
    assert helm_release["spec"]["chart"]["spec"]["chart"] == "boat-operator"


def test_archive_that_is_not_the_pinned_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FlotillaError, match=r"boat-operator 1\.2\.3: the archive is sha256:.*, pinned is sha256:"):
        chart_archive.fetch(SOURCE, tmp_path, client=repository(archive=b"somebody else's"))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("client", "message"),
    [
        (lambda: repository(index="entries: {}"), "does not list boat-operator 1.2.3. It has no chart of this name"),
        (lambda: repository(index="entries: ["), "the index is not readable as YAML"),
        (lambda: repository(index="- a list"), "does not list boat-operator 1.2.3"),
        (
            lambda: httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(503))),
            "cannot download boat-operator 1.2.3 (the answer was 503). Put boat-operator-1.2.3.tgz into",
        ),
    ],
)
def test_repository_that_cannot_serve_is_named(
    tmp_path: Path, client: Callable[[], httpx.Client], message: str
) -> None:
    with pytest.raises(FlotillaError) as raised:
        chart_archive.fetch(SOURCE, tmp_path, client=client())

    assert message in str(raised.value)
    assert "https://charts.example.org/fleet/index.yaml" in str(raised.value)


def rendered(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> list[dict[str, Any]]:
    """Return the objects that rendering the example chart writes."""
    monkeypatch.setattr(chart_sources, "ALL", (SOURCE,))
    args = replace(ChartArgs(source=SOURCE, namespace="harbour", part_of="fleet", values={"replicas": 2}), **changes)

    def declare(_: Settings, context: str) -> None:
        Chart("boats", args)

    monkeypatch.setattr(manifests, "declare", declare)
    return manifests.render(everything()).objects


def test_rendered_chart_is_a_reference_for_flux(monkeypatch: pytest.MonkeyPatch) -> None:
    helm_release, source = rendered(monkeypatch)

    assert helm_release["kind"] == "HelmRelease"
    assert helm_release["spec"]["chart"]["spec"] == {
        "chart": "boat-operator",
        "version": "1.2.3",
        "sourceRef": {"kind": source["kind"], "name": source["metadata"]["name"]},
    }
    assert source["spec"]["url"] == "https://charts.example.org/fleet"
    assert helm_release["spec"]["values"] == {"replicas": 2}
    assert helm_release["metadata"]["annotations"] == {"flotilla.dev/chart-digest": SOURCE.digest}
    assert helm_release["metadata"]["labels"]["app.kubernetes.io/part-of"] == "fleet"


def test_rendered_chart_keeps_hooks_and_crds_as_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    install = rendered(monkeypatch, skip_crds=True)[0]["spec"]["install"]

    assert (install["crds"], install["disableHooks"]) == ("Skip", True)


def test_pinned_charts_are_named_once_and_pinned_by_sha256() -> None:
    assert len({(source.repository, source.chart) for source in chart_sources.ALL}) == len(chart_sources.ALL)
    assert all(source.digest is None or len(source.digest) == len("sha256:") + 64 for source in chart_sources.ALL)
