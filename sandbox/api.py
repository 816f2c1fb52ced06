"""A small client of the sandbox's API server: JSON in, JSON out, errors as one line."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

import httpx

from infra.errors import FlotillaError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

Json = dict[str, Any]

NOT_FOUND = 404


class ApiClient:
    """Requests as one user of the sandbox. Use it as a context manager, so that connections are closed."""

    def __init__(
        self,
        server: str,
        *,
        authority: Path,
        certificate: Path | None = None,
        key: Path | None = None,
        token: str | None = None,
        timeout_seconds: float = 30.0,
    ) -> None:
        context = ssl.create_default_context(cafile=str(authority))
        if certificate and key:
            context.load_cert_chain(certificate, key)
        self.server = server
        self._http = httpx.Client(
            base_url=server,
            verify=context,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=timeout_seconds,
            trust_env=False,
        )

    def __enter__(self) -> ApiClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.close()

    def answers(self, path: str) -> bool:
        """Return whether a health path answers with success."""
        try:
            return self._http.get(path, timeout=2.0).is_success
        except httpx.HTTPError:
            return False

    def get(self, path: str) -> Json:
        """Read an object or list."""
        return self._request("GET", path)

    def find(self, path: str) -> Json | None:
        """Read an object that may not exist."""
        response = self._send("GET", path, None, None)
        return None if response.status_code == NOT_FOUND else _content(response)

    def create(self, path: str, body: Json) -> Json:
        """Create an object in a collection."""
        return self._request("POST", path, body)

    def patch(self, path: str, body: Json) -> Json:
        """Change fields of an object by JSON merge patch."""
        return self._request("PATCH", path, body, "application/merge-patch+json")

    def delete(self, path: str, body: Json | None = None) -> Json:
        """Delete an object."""
        return self._request("DELETE", path, body)

    def _request(self, method: str, path: str, body: Json | None = None, kind: str | None = None) -> Json:
        return _content(self._send(method, path, body, kind))

    def _send(self, method: str, path: str, body: Json | None, kind: str | None) -> httpx.Response:
        headers = {"Content-Type": kind} if kind else {}
        try:
            return self._http.request(method, path, json=body, headers=headers)
        except httpx.HTTPError as error:
            raise FlotillaError(
                f"the sandbox's API server does not answer: {error}",
                where=str(self._http.base_url),
                remedy="Look at `flotilla sandbox status`",
            ) from error


def _content(response: httpx.Response) -> Json:
    try:
        content: Json = response.json() if response.content else {}
    except ValueError:
        content = {"message": response.text.strip()}
    if response.is_success:
        return content
    reason = content.get("message") or response.reason_phrase
    raise FlotillaError(f"the API server refused: {reason}", where=f"{response.request.method} {response.url.path}")
