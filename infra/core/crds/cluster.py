"""The few API server requests a bundle needs, and what their failures mean to a person."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from infra.core.crds.pins import Manifest, canonical
from infra.core.crds.properties import BUNDLE_LABEL
from infra.errors import FlotillaError

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

FIELD_MANAGER = "flotilla"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_TIMEOUT_SECONDS = (10, 90)
_METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


class CrdApi(Protocol):
    """What applying, observing and removing CRDs asks of a cluster."""

    def revisions(self, bundle: str) -> dict[str, str]:
        """Return `uid/generation` by name of the CRDs that carry the bundle's label."""
        ...

    def get(self, name: str) -> Manifest | None:
        """Return the live CRD, None when there is none."""
        ...

    def apply(self, manifest: Manifest, *, dry_run: bool = False) -> Manifest:
        """Apply server-side, taking over conflicting fields; return what the API server makes of it."""
        ...

    def replace(self, manifest: Manifest) -> Manifest:
        """Put the whole object in place of the live one of the same resource version."""
        ...

    def delete(self, name: str, uid: str) -> None:
        """Delete the CRD if it still is the one with this uid."""
        ...

    def objects(self, path: str) -> tuple[int, str | None]:
        """Return how many custom resources there are at an API path, and the name of one."""
        ...


class Cluster:
    """The API server of a kubeconfig context, asked for CRDs as plain data.

    Args:
        context: name of the context, in the files of `KUBECONFIG` or in `~/.kube/config`.

    Raises:
        FlotillaError: there is no such context.

    """

    def __init__(self, context: str) -> None:
        self._where = f"context {context}"
        self._client = _client(context, self._where)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def revisions(self, bundle: str) -> dict[str, str]:
        """Return `uid/generation` by name of the CRDs that carry the bundle's label."""
        query = {"labelSelector": f"{BUNDLE_LABEL}={bundle}"}
        listed = self._send("GET", _CRDS, query=query, accept=_METADATA_LIST) or {}
        return {item["metadata"]["name"]: revision(item) for item in listed.get("items") or []}

    def require(self) -> None:
        """Make sure that the API server answers us.

        Raises:
            FlotillaError: it cannot be reached, or refuses to list CRDs.
        """
        self._send("GET", _CRDS, query={"limit": "1"}, accept=_METADATA_LIST)

    def get(self, name: str) -> Manifest | None:
        """Return the live CRD, None when there is none."""
        return self._send("GET", f"{_CRDS}/{name}")

    def apply(self, manifest: Manifest, *, dry_run: bool = False) -> Manifest:
        """Apply server-side, taking over conflicting fields; return what the API server makes of it."""
        query = {"fieldManager": FIELD_MANAGER, "force": "true"} | ({"dryRun": "All"} if dry_run else {})
        path = f"{_CRDS}/{manifest['metadata']['name']}"
        return self._sent("PATCH", path, query, manifest, "application/apply-patch+yaml")

    def replace(self, manifest: Manifest) -> Manifest:
        """Put the whole object in place of the live one of the same resource version."""
        path = f"{_CRDS}/{manifest['metadata']['name']}"
        return self._sent("PUT", path, {"fieldManager": FIELD_MANAGER}, manifest, "application/json")

    def delete(self, name: str, uid: str) -> None:
        """Delete the CRD if it still is the one with this uid."""
        self._send("DELETE", f"{_CRDS}/{name}", body={"preconditions": {"uid": uid}})

    def objects(self, path: str) -> tuple[int, str | None]:
        """Return how many custom resources there are at an API path, and the name of one."""
        listed = self._send("GET", path, query={"limit": "1"}, accept=_METADATA_LIST)
        if not listed or not listed.get("items"):
            return 0, None
        first = listed["items"][0]["metadata"]
        name = "/".join(filter(None, (first.get("namespace"), first["name"])))
        return 1 + int(listed["metadata"].get("remainingItemCount") or 0), name

    def _sent(self, method: str, path: str, query: Mapping[str, str], body: Manifest, content_type: str) -> Manifest:
        answer = self._send(method, path, query=query, body=body, content_type=content_type)
        if answer is None:
            raise self._stranger()
        return answer

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Manifest | None = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> Manifest | None:
        """Return the answer's JSON, None for "not found"; anything else is an error."""
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        headers = {"Accept": accept, "Accept-Encoding": "gzip", "Content-Type": content_type}
        request = self._client.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params=headers,
            auth_settings=["BearerToken"],
        )
        try:
            response = self._client.call_api(
                request[0],
                request[1],
                request[2],
                canonical(body) if body is not None and content_type != "application/json" else body,
                None,
                _TIMEOUT_SECONDS,
            )
            content = cast("bytes", response.read())
        except (HTTPError, ApiException) as error:
            raise FlotillaError(
                f"cannot reach the API server at {self._client.configuration.host} ({_cause(error)})",
                where=self._where,
                remedy="Start the cluster, or correct the context's server and certificate authority",
            ) from error
        if response.status == 404:
            return None
        if response.status >= 400:
            raise self._refusal(response.status, content)
        try:
            return cast("Manifest", json.loads(content))
        except ValueError as error:
            raise self._stranger() from error

    def _stranger(self) -> FlotillaError:
        return FlotillaError(
            f"{self._client.configuration.host} does not answer as a Kubernetes API server",
            where=self._where,
            remedy="Correct the context's server",
        )

    def _refusal(self, status: int, content: bytes) -> FlotillaError:
        message = _message(content) or f"the API server answered {status}"
        if status == 401:
            return FlotillaError(
                "the API server does not accept the credentials", where=self._where, remedy="Log in again"
            )
        if status == 403:
            _, _, denial = message.rpartition("is forbidden: ")
            return FlotillaError(
                denial,
                where=self._where,
                remedy="Grant get, list, create, patch, update and delete on customresourcedefinitions, and "
                "list on the custom resources themselves",
            )
        return FlotillaError(message, where=self._where)


def _client(context: str, where: str) -> ApiClient:
    """Return a client of the context's API server; nothing is sent yet."""
    from kubernetes import config
    from yaml import YAMLError

    files = os.environ.get("KUBECONFIG") or "~/.kube/config"
    if not any(Path(file).expanduser().is_file() for file in files.split(os.pathsep)):
        raise FlotillaError(
            f"there is no kubeconfig at {files}",
            where=where,
            remedy="Set KUBECONFIG to one that has this context",
        )
    try:
        known = sorted(_contexts(files))
        if context not in known:
            raise FlotillaError(
                f"the kubeconfig {files} has no such context",
                where=where,
                remedy=f"It has {', '.join(known) or 'none'}: name one of them in the stack",
            )
        client = config.new_client_from_config(config_file=files, context=context, persist_config=False)
    except (config.ConfigException, YAMLError) as error:
        raise FlotillaError(
            f"cannot use the kubeconfig {files} ({' '.join(str(error).split())})",
            where=where,
            remedy="Repair it, or set KUBECONFIG to another that has this context",
        ) from error
    if not client.configuration.verify_ssl:
        _accept_unverified_server()
    return client


def _contexts(files: str) -> set[str]:
    """Return the names of the contexts in kubeconfig files, whether or not one of them is the current one."""
    from kubernetes.config import ConfigException
    from kubernetes.config.kube_config import KubeConfigMerger

    try:
        merged = KubeConfigMerger(files).config
        return {str(entry["name"]) for entry in merged.value["contexts"]} if merged else set()
    except (AttributeError, KeyError, TypeError) as error:
        raise ConfigException("it is no kubeconfig") from error


def _accept_unverified_server() -> None:
    """Keep quiet, as kubectl does, about what the kubeconfig itself asks for."""
    import urllib3

    urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)


def revision(live: Mapping[str, Any]) -> str:
    """Return the uid and generation of a live object; its specification stays while they do."""
    return f"{live['metadata']['uid']}/{live['metadata']['generation']}"


def _cause(error: Exception) -> str:
    """Return the innermost reason of a failed connection, without urllib3's nesting."""
    reason = getattr(error, "reason", None) or error
    return " ".join(str(reason).rpartition(": ")[2].split())


def _message(content: bytes) -> str:
    try:
        return str(json.loads(content).get("message", ""))
    except (ValueError, AttributeError):
        return ""
