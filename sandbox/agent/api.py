"""The agent's way to the API server: plain JSON in and out, on the official client's connections."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kubernetes import client, config

Json = dict[str, Any]

STRATEGIC_MERGE = "application/strategic-merge-patch+json"
_CONNECTIONS = 64
_SUCCESS = range(200, 300)


class ApiError(Exception):
    """The API server refused, or could not be reached (status 0)."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)

    @property
    def missing(self) -> bool:
        """Whether the object does not exist, or is no longer the one that was meant."""
        return self.status in {404, 409}


class Api:
    """Requests with the identity of a kubeconfig's current context. Threads may share it."""

    def __init__(self, kubeconfig: Path) -> None:
        configuration = client.Configuration()
        config.load_kube_config(str(kubeconfig), client_configuration=configuration)
        configuration.connection_pool_maxsize = _CONNECTIONS
        self._client = client.ApiClient(configuration)

    def get(self, path: str, **query: str) -> Json:
        """Read an object or a list."""
        return self._json("GET", path, query)

    def create(self, path: str, body: Json) -> Json:
        """Create an object in a collection, or ask a subresource for something."""
        return self._json("POST", path, {}, body)

    def patch(self, path: str, body: Json) -> Json:
        """Change fields of an object by strategic merge patch."""
        return self._json("PATCH", path, {}, body, STRATEGIC_MERGE)

    def delete(self, path: str, body: Json) -> Json:
        """Delete an object."""
        return self._json("DELETE", path, {}, body)

    def watch(self, path: str, version: str, **query: str) -> Iterator[Json]:
        """Yield a collection's events since a version, until the server ends the stream."""
        parameters = {
            **query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": "300",
        }
        response = self._send("GET", path, parameters, None, None, timeout=(10, 330))
        rest = b""
        try:
            for chunk in response.stream(amt=None):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from (json.loads(line) for line in lines if line)
        finally:
            response.close()

    def _json(
        self, method: str, path: str, query: dict[str, str], body: Json | None = None, kind: str | None = None
    ) -> Json:
        return json.loads(self._send(method, path, query, body, kind, timeout=(10, 30)).data)

    def _send(
        self,
        method: str,
        path: str,
        query: dict[str, str],
        body: Json | None,
        kind: str | None,
        timeout: tuple[float, float],
    ) -> Any:
        request = self._client.param_serialize(
            method,
            path,
            query_params=list(query.items()),
            header_params={"Accept": "application/json", "Content-Type": kind or "application/json"},
            body=body,
            auth_settings=["BearerToken"],
        )
        try:
            response = self._client.call_api(*request, _request_timeout=timeout).response
        except Exception as error:
            raise ApiError(0, f"the API server cannot be reached: {error}") from error
        if response.status not in _SUCCESS:
            raise ApiError(response.status, _message(response.data) or str(response.reason))
        return response


def _message(data: bytes) -> str:
    try:
        content: object = json.loads(data)
    except ValueError:
        return data.decode(errors="replace")[:500]
    return str(content.get("message", "")) if isinstance(content, dict) else ""
