from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import urllib3
import yaml
from kubernetes.client import ApiClient

from infra.core.crds.cluster import Cluster
from infra.errors import FlotillaError
from tests.unit.crds_fakes import crd

Request = dict[str, Any]


class Answer:
    def __init__(self, status: int, body: object) -> None:
        self.status = status
        self._body = body

    def read(self) -> bytes:
        return self._body if isinstance(self._body, bytes) else json.dumps(self._body).encode()


@pytest.fixture(autouse=True)
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://api.test:6443"}}],
        "users": [{"name": "u", "user": {"token": "opaque"}}],
        "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("prod-aws", "dev")],
        "current-context": "dev",
    }
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    monkeypatch.setenv("KUBECONFIG", str(file))
    return file


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answer | Exception], list[Request]]:
    """Make the API server answer, and return the requests it gets."""

    def install(answer: Answer | Exception) -> list[Request]:
        requests: list[Request] = []

        def call_api(_: ApiClient, method: str, url: str, headers: dict[str, str], body: Any, *__: object) -> Answer:
            requests.append({"method": method, "url": url, "headers": headers, "body": body})
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(ApiClient, "call_api", call_api)
        return requests

    return install


Answering = Callable[[Answer | Exception], list[Request]]


def status(message: str) -> dict[str, str]:
    return {"kind": "Status", "message": message}


def test_unknown_context_lists_those_there_are() -> None:
    with pytest.raises(FlotillaError) as caught:
        Cluster("staging")

    assert str(caught.value).startswith("context staging: the kubeconfig ")
    assert "It has dev, prod-aws: name one of them in the stack" in str(caught.value)


def test_kubeconfig_needs_no_current_context(kubeconfig: Path, answering: Answering) -> None:
    content = yaml.safe_load(kubeconfig.read_text())
    del content["current-context"]
    kubeconfig.write_text(yaml.safe_dump(content))
    requests = answering(Answer(200, {"items": []}))

    with Cluster("prod-aws") as cluster:
        cluster.require()

    assert requests[0]["url"].startswith("https://api.test:6443/apis/apiextensions.k8s.io/")


def test_missing_kubeconfig_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))

    with pytest.raises(FlotillaError, match=r"context dev: there is no kubeconfig at .*/none\. Set KUBECONFIG"):
        Cluster("dev")


@pytest.mark.parametrize("text", ["{", "", "just a text", "contexts: [1]"])
def test_broken_kubeconfig_is_one_clear_error(text: str, kubeconfig: Path) -> None:
    kubeconfig.write_text(text)

    with pytest.raises(FlotillaError, match="cannot use the kubeconfig") as caught:
        Cluster("dev")
    assert "\n" not in str(caught.value)


def test_apply_is_server_side_and_takes_over(answering: Answering) -> None:
    requests = answering(Answer(200, crd("boats")))

    with Cluster("dev") as cluster:
        cluster.apply(crd("boats"), dry_run=True)

    assert requests[0]["method"] == "PATCH"
    assert requests[0]["url"].startswith(
        "https://api.test:6443/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boats.example.org?"
    )
    assert {"fieldManager=flotilla", "force=true", "dryRun=All"} == set(requests[0]["url"].partition("?")[2].split("&"))
    assert requests[0]["headers"]["Content-Type"] == "application/apply-patch+yaml"
    assert requests[0]["headers"]["authorization"] == "Bearer opaque"
    assert json.loads(requests[0]["body"]) == crd("boats")


def test_delete_names_the_very_object(answering: Answering) -> None:
    requests = answering(Answer(200, {}))

    with Cluster("dev") as cluster:
        cluster.delete("boats.example.org", "uid-1")

    assert requests[0]["body"] == {"preconditions": {"uid": "uid-1"}}


def test_revisions_read_metadata_only(answering: Answering) -> None:
    item = {"metadata": {"name": "boats.example.org", "uid": "uid-1", "generation": 3}}
    requests = answering(Answer(200, {"items": [item]}))

    with Cluster("dev") as cluster:
        assert cluster.revisions("boats") == {"boats.example.org": "uid-1/3"}

    assert "as=PartialObjectMetadataList" in requests[0]["headers"]["Accept"]


@pytest.mark.parametrize("empty", [{"items": None}, {"items": []}, {}])
def test_empty_lists_are_empty(empty: object, answering: Answering) -> None:
    answering(Answer(200, empty))

    with Cluster("dev") as cluster:
        assert cluster.revisions("boats") == {}
        assert cluster.objects("/apis/example.org/v1/boats") == (0, None)


def test_objects_are_counted_without_reading_them_all(answering: Answering) -> None:
    first = {"metadata": {"name": "tug", "namespace": "team"}}
    answering(Answer(200, {"metadata": {"remainingItemCount": 41}, "items": [first]}))

    with Cluster("dev") as cluster:
        assert cluster.objects("/apis/example.org/v1/boats") == (42, "team/tug")


@pytest.mark.parametrize("answer", [Answer(200, b"<html>"), Answer(404, b"")], ids=["page", "no such path"])
def test_server_of_another_kind_is_told(answer: Answer, answering: Answering) -> None:
    answering(answer)

    with Cluster("dev") as cluster, pytest.raises(FlotillaError, match="does not answer as a Kubernetes API"):
        cluster.apply(crd("boats"))


def test_missing_crd_is_none(answering: Answering) -> None:
    answering(Answer(404, status("not found")))

    with Cluster("dev") as cluster:
        assert cluster.get("boats.example.org") is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            Answer(
                403,
                status(
                    'customresourcedefinitions.apiextensions.k8s.io "boats.example.org" is forbidden: User "jane" '
                    'cannot patch resource "customresourcedefinitions" in API group "apiextensions.k8s.io" at the '
                    "cluster scope"
                ),
            ),
            'context dev: User "jane" cannot patch resource "customresourcedefinitions" in API group '
            '"apiextensions.k8s.io" at the cluster scope. Grant get, list, create, patch, update and delete',
        ),
        (Answer(401, status("Unauthorized")), "does not accept the credentials. Log in again"),
        (Answer(422, status("spec.versions: Invalid value")), "context dev: spec.versions: Invalid value"),
        (Answer(500, b"<html>"), "context dev: the API server answered 500"),
        (
            urllib3.exceptions.MaxRetryError(
                urllib3.HTTPSConnectionPool("api.test"), "/", OSError("x: [Errno 111] Connection refused")
            ),
            "cannot reach the API server at https://api.test:6443 ([Errno 111] Connection refused). Start the cluster",
        ),
    ],
    ids=["forbidden", "unauthenticated", "invalid", "broken", "unreachable"],
)
def test_refusals_say_what_to_do(answer: Answer | Exception, expected: str, answering: Answering) -> None:
    answering(answer)

    with Cluster("dev") as cluster, pytest.raises(FlotillaError) as caught:
        cluster.get("boats.example.org")
    assert expected in str(caught.value)
